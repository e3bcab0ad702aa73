// Command suite tries gomemcache with the server at HOST:PORT or the path of a Unix socket.
package main

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

var count, failed int

// check tells whether found is expected.
func check(what string, found, expected any) {
	count++
	if reflect.DeepEqual(found, expected) {
		fmt.Printf("ok %d - %s\n", count, what)
		return
	}
	failed++
	told := fmt.Sprintf("%v", found)
	fmt.Printf("not ok %d - %s: %.200s\n", count, what, told)
}

func item(key, value string) *memcache.Item {
	return &memcache.Item{Key: key, Value: []byte(value)}
}

// value of a key, or the error that comes instead.
func value(client *memcache.Client, key string) any {
	found, err := client.Get(key)
	if err != nil {
		return err
	}
	return string(found.Value)
}

// number is what a count became, or its error.
func number(count uint64, err error) any {
	if err != nil {
		return err
	}
	return count
}

func plain(client *memcache.Client) {
	check("Set", client.Set(item("a", "one")), nil)
	check("Get", value(client, "a"), "one")
	check("Get of a missing key", value(client, "none"), memcache.ErrCacheMiss)
	check("Add", client.Add(item("b", "two")), nil)
	check("Add of a key that is there", client.Add(item("b", "x")), memcache.ErrNotStored)
	check("Replace", client.Replace(item("b", "2")), nil)
	check("Replace of a missing key", client.Replace(item("none", "x")), memcache.ErrNotStored)
	check("Append", client.Append(item("b", ">")), nil)
	check("Prepend", client.Prepend(item("b", "<")), nil)
	check("Append to a missing key", client.Append(item("none", "x")), memcache.ErrNotStored)
	check("what was joined", value(client, "b"), "<2>")
	check("Delete", client.Delete("a"), nil)
	check("Delete of a missing key", client.Delete("a"), memcache.ErrCacheMiss)
}

func many(client *memcache.Client) {
	keys := []string{"none"}
	for i := 0; i < 200; i++ {
		key := fmt.Sprintf("many%d", i)
		keys = append(keys, key)
		if err := client.Set(item(key, key)); err != nil {
			check("Set of "+key, err, nil)
		}
	}
	found, err := client.GetMulti(keys)
	check("GetMulti", err, nil)
	check("all but the missing one", len(found), 200)
	for key, got := range found {
		if string(got.Value) != key {
			check("Get of "+key, string(got.Value), key)
		}
	}
}

func unique(client *memcache.Client) {
	check("Set", client.Set(item("c", "1")), nil)
	first, err := client.Get("c")
	check("Get with its number", err, nil)
	second, err := client.Get("c")
	check("and again", err, nil)
	first.Value = []byte("2")
	check("CompareAndSwap", client.CompareAndSwap(first), nil)
	check("with what was", client.CompareAndSwap(second), memcache.ErrCASConflict)
	check("it is the first", value(client, "c"), "2")
	check("Delete", client.Delete("c"), nil)
	check("CompareAndSwap of a missing key", client.CompareAndSwap(second), memcache.ErrCacheMiss)
}

func counting(client *memcache.Client) {
	check("Set", client.Set(item("n", "10")), nil)
	check("Increment", number(client.Increment("n", 5)), uint64(15))
	check("Decrement", number(client.Decrement("n", 6)), uint64(9))
	check("Decrement below 0", number(client.Decrement("n", 100)), uint64(0))
	check("of a missing key", number(client.Increment("none", 1)), memcache.ErrCacheMiss)
	check("Set", client.Set(item("n", "18446744073709551615")), nil)
	check("Increment beyond 64 bits", number(client.Increment("n", 2)), uint64(1))
	check("Set", client.Set(item("n", "word")), nil)
	_, err := client.Increment("n", 1)
	check("Increment of a word", err != nil && strings.Contains(err.Error(), "non-numeric"), true)
}

func values(client *memcache.Client) {
	var every bytes.Buffer
	for i := 0; i < 256; i++ {
		every.WriteByte(byte(i))
	}
	every.WriteString("\r\nEND\r\n")
	check("Set of every byte", client.Set(item("bytes", every.String())), nil)
	check("Get of every byte", value(client, "bytes"), every.String())
	large := strings.Repeat("0123456789", 90_000)
	check("Set of a large value", client.Set(item("large", large)), nil)
	check("Get of a large value", value(client, "large"), large)
	check("Set of nothing", client.Set(item("empty", "")), nil)
	check("Get of nothing", value(client, "empty"), "")
	longest := strings.Repeat("k", 250)
	check("the longest key", client.Set(item(longest, "x")), nil)
	check("Get of the longest key", value(client, longest), "x")
	flagged := item("flags", "x")
	flagged.Flags = 1<<32 - 1
	check("Set with flags", client.Set(flagged), nil)
	found, err := client.Get("flags")
	check("Get with flags", err, nil)
	check("the flags", found != nil && found.Flags == 1<<32-1, true)
}

func expiry(client *memcache.Client) {
	hour := item("t", "x")
	hour.Expiration = 3600
	check("Set for an hour", client.Set(hour), nil)
	found, err := client.GetAndTouch("t", 1800)
	check("GetAndTouch", err, nil)
	check("its value", found != nil && string(found.Value) == "x", true)
	_, err = client.GetAndTouch("none", 1)
	check("GetAndTouch of a missing key", err, memcache.ErrCacheMiss)
	check("Touch", client.Touch("t", 1), nil)
	check("Touch of a missing key", client.Touch("none", 1), memcache.ErrCacheMiss)
	end := time.Now().Add(10 * time.Second)
	for value(client, "t") == "x" && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
	}
	check("it ends", value(client, "t"), memcache.ErrCacheMiss)
}

func administration(client *memcache.Client) {
	check("Ping", client.Ping(), nil)
	check("FlushAll", client.FlushAll(), nil)
	check("nothing is there", value(client, "large"), memcache.ErrCacheMiss)
	check("Set", client.Set(item("a", "one")), nil)
	check("DeleteAll", client.DeleteAll(), nil)
	check("nothing is there", value(client, "a"), memcache.ErrCacheMiss)
	check("Close", client.Close(), nil)
}

// version of the client, by what was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && len(info.Deps) > 0 {
		return info.Deps[0].Version
	}
	return "of an unknown version"
}

func main() {
	client := memcache.New(os.Args[1])
	client.Timeout = 20 * time.Second
	fmt.Printf("# gomemcache %s, %s\n", version(), runtime.Version())
	plain(client)
	many(client)
	unique(client)
	counting(client)
	values(client)
	expiry(client)
	administration(client)
	fmt.Printf("1..%d\n", count)
	if failed > 0 {
		os.Exit(1)
	}
}
