import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.logging.LogManager;
import net.spy.memcached.CASResponse;
import net.spy.memcached.CASValue;
import net.spy.memcached.CachedData;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.auth.AuthDescriptor;
import net.spy.memcached.auth.PlainCallbackHandler;
import net.spy.memcached.transcoders.SerializingTranscoder;
import net.spy.memcached.transcoders.Transcoder;

/**
 * spymemcached against the server at HOST:PORT.
 *
 * <p>java Spymemcached HOST:PORT text|binary [NAME PASSWORD]
 */
public final class Spymemcached {
  private final MemcachedClient client;
  private int count;
  private int failed;

  private Spymemcached(MemcachedClient client) {
    this.client = client;
  }

  /** Values as they are, with the flags 4711. */
  private static final class Flagged implements Transcoder<String> {
    public boolean asyncDecode(CachedData data) {
      return false;
    }

    public CachedData encode(String text) {
      return new CachedData(4711, text.getBytes(StandardCharsets.UTF_8), getMaxSize());
    }

    public String decode(CachedData data) {
      return data.getFlags() + " " + new String(data.getData(), StandardCharsets.UTF_8);
    }

    public int getMaxSize() {
      return CachedData.MAX_SIZE;
    }
  }

  private void check(String what, Callable<?> ask, Object expected) {
    checkThat(what, ask, found -> Objects.deepEquals(found, expected));
  }

  private void checkThat(String what, Callable<?> ask, Predicate<Object> expected) {
    count++;
    Object found;
    try {
      found = ask.call();
    } catch (Exception error) {
      found = error;
    }
    if (expected.test(found)) {
      System.out.println("ok " + count + " - " + what);
      return;
    }
    failed++;
    String told = String.valueOf(found);
    told = told.substring(0, Math.min(told.length(), 200));
    System.out.println("not ok " + count + " - " + what + ": " + told);
  }

  private void plain() {
    check("set", () -> client.set("a", 0, "one").get(), true);
    check("get", () -> client.get("a"), "one");
    check("get of a missing key", () -> client.get("none"), null);
    check("add", () -> client.add("b", 0, "two").get(), true);
    check("add of a key that is there", () -> client.add("b", 0, "x").get(), false);
    check("replace", () -> client.replace("b", 0, "2").get(), true);
    check("replace of a missing key", () -> client.replace("none", 0, "x").get(), false);
    check("append", () -> client.append("b", ">").get(), true);
    check("prepend", () -> client.prepend("b", "<").get(), true);
    check("append to a missing key", () -> client.append("none", "x").get(), false);
    check("what was joined", () -> client.get("b"), "<2>");
    check("delete", () -> client.delete("a").get(), true);
    check("delete of a missing key", () -> client.delete("a").get(), false);
  }

  private void many() throws Exception {
    Map<String, Object> many = new HashMap<>();
    for (int number = 0; number < 200; number++) {
      many.put("many" + number, "value " + number);
    }
    Collection<String> keys = many.keySet();
    for (String key : keys) {
      client.set(key, 0, many.get(key));
    }
    check("getBulk", () -> client.getBulk(keys), many);
    check("getBulk of missing keys", () -> client.getBulk(List.of("none", "no")), Map.of());
  }

  private void unique() throws Exception {
    client.set("c", 0, "1").get();
    CASValue<Object> first = client.gets("c");
    check("gets", first::getValue, "1");
    check("cas", () -> client.cas("c", first.getCas(), "2"), CASResponse.OK);
    check("cas with what was", () -> client.cas("c", first.getCas(), "3"), CASResponse.EXISTS);
    check("it is the first", () -> client.get("c"), "2");
    check("cas of a missing key", () -> client.cas("no", 7, "3"), CASResponse.NOT_FOUND);
  }

  private void counting() throws Exception {
    client.set("n", 0, "10").get();
    check("incr", () -> client.incr("n", 5), 15L);
    check("decr", () -> client.decr("n", 6), 9L);
    check("decr below 0", () -> client.decr("n", 100), 0L);
    check("incr of a missing key", () -> client.incr("none", 1), -1L);
    check("incr with a first value", () -> client.incr("first", 1, 7L), 7L);
    check("and again", () -> client.incr("first", 1, 7L), 8L);
  }

  private void values() {
    byte[] every = new byte[263];
    for (int number = 0; number < 256; number++) {
      every[number] = (byte) number;
    }
    byte[] end = "\r\nEND\r\n".getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(end, 0, every, 256, end.length);
    byte[] large = new byte[900_000];
    Arrays.fill(large, (byte) 'x');
    Map<String, Object> kinds =
        Map.of("every byte", every, "a large value", large, "nothing", "", "a number", 1L << 40);
    for (Map.Entry<String, Object> kind : kinds.entrySet()) {
      // What kind of value it is stands in the flags.
      check("set of " + kind.getKey(), () -> client.set("kind", 0, kind.getValue()).get(), true);
      check("get of " + kind.getKey(), () -> client.get("kind"), kind.getValue());
    }
    check("set with flags", () -> client.set("flags", 0, "x", new Flagged()).get(), true);
    check("get with flags", () -> client.get("flags", new Flagged()), "4711 x");
    String longest = "k".repeat(250);
    check("the longest key", () -> client.set(longest, 0, "x").get(), true);
    check("get of the longest key", () -> client.get(longest), "x");
  }

  private void expiry(boolean isBinary) throws Exception {
    check("set for an hour", () -> client.set("t", 3600, "x").get(), true);
    check("it is there", () -> client.get("t"), "x");
    if (isBinary) {
      check("getAndTouch", () -> client.getAndTouch("t", 1800).getValue(), "x");
    }
    check("touch", () -> client.touch("t", 1).get(), true);
    check("touch of a missing key", () -> client.touch("none", 1).get(), false);
    long end = System.nanoTime() + 10_000_000_000L;
    while (client.get("t") != null && System.nanoTime() < end) {
      Thread.sleep(50);
    }
    check("it ends", () -> client.get("t"), null);
  }

  private void administration() {
    checkThat("getVersions", () -> client.getVersions().values(), Spymemcached::digits);
    checkThat("getStats", () -> figures("").get("curr_items"), Spymemcached::digits);
    checkThat("getStats of settings", () -> figures("settings").get("maxconns"), Spymemcached::digits);
    check("flush", () -> client.flush().get(), true);
    check("nothing is there", () -> client.getBulk("b", "flags", "many1"), Map.of());
  }

  private Map<String, String> figures(String topic) {
    var all = topic.isEmpty() ? client.getStats() : client.getStats(topic);
    return all.values().iterator().next();
  }

  /** Whether it begins with a digit, perhaps in a list. */
  private static boolean digits(Object found) {
    return String.valueOf(found).matches("\\[?[0-9].*");
  }

  private static MemcachedClient connect(String[] args) throws Exception {
    var builder = new ConnectionFactoryBuilder();
    builder.setProtocol(ConnectionFactoryBuilder.Protocol.valueOf(args[1].toUpperCase()));
    builder.setOpTimeout(20_000);
    var transcoder = new SerializingTranscoder();
    transcoder.setCompressionThreshold(2_000_000);
    builder.setTranscoder(transcoder);
    if (args.length > 3) {
      // Its own choice would be CRAM-MD5.
      var login = new PlainCallbackHandler(args[2], args[3]);
      builder.setAuthDescriptor(new AuthDescriptor(new String[] {"PLAIN"}, login));
    }
    String[] place = args[0].split(":");
    var address = new InetSocketAddress(place[0], Integer.parseInt(place[1]));
    return new MemcachedClient(builder.build(), List.of(address));
  }

  public static void main(String[] args) throws Exception {
    LogManager.getLogManager().reset();
    System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
    var suite = new Spymemcached(connect(args));
    System.out.println("# spymemcached, Java " + System.getProperty("java.version"));
    suite.plain();
    suite.many();
    suite.unique();
    suite.counting();
    suite.values();
    suite.expiry(args[1].equals("binary"));
    suite.administration();
    suite.client.shutdown();
    System.out.println("1.." + suite.count);
    System.exit(suite.failed > 0 ? 1 : 0);
  }
}
