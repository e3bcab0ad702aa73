//! Where the originals place 2,000 keys. Each line of `placement.tsv` has the client, a placement,
//! a set of servers, and the server of each key as a digit.

use tavola_client::{Hash, Node, Placement, Ring};

const KEYS: usize = 2000;

fn node(host: &str, port: u16, weight: f64) -> Node {
    Node {
        host: host.to_string(),
        port,
        weight,
    }
}

/// Returns the servers of a set.
fn servers(set: &str) -> Vec<Node> {
    let numbered = |weights: &[f64]| -> Vec<Node> {
        let all = weights.iter().enumerate();
        all.map(|(i, weight)| node(&format!("10.0.1.{}", i + 1), 11211, *weight))
            .collect()
    };
    match set {
        "equal3" => numbered(&[1.0; 3]),
        "weights7" => numbered(&[600.0, 300.0, 200.0, 350.0, 1000.0, 800.0, 950.0]),
        "mixed4" => vec![
            node("127.0.0.1", 11212, 1.0),
            node("127.0.0.1", 11213, 2.0),
            node("cache.example.net", 11211, 3.0),
            node("cache.example.net", 22122, 1.0),
        ],
        "one" => numbered(&[1.0]),
        "thirds2" => numbered(&[3.0, 7.0]),
        // Paths of Unix sockets, which have no port.
        "sockets3" => vec![
            node("/tmp/mc-1.sock", 0, 1.0),
            node("/tmp/mc-2.sock", 0, 2.0),
            node("/tmp/mc-3.sock", 0, 1.5),
        ],
        other => panic!("no servers {other}"),
    }
}

/// Returns a placement, and what is hashed before each key.
fn placement(name: &str) -> (Placement, &'static str) {
    let of = |placement| (placement, "");
    match name {
        "default_modula" => of(Placement::Modula(Hash::OneAtATime)),
        "modula_md5" => of(Placement::Modula(Hash::Md5)),
        "modula_crc" => of(Placement::Modula(Hash::Crc)),
        "modula_fnv1a_32" => of(Placement::Modula(Hash::Fnv1aOf32)),
        "consistent" | "ketama" => of(Placement::Consistent(Hash::OneAtATime)),
        "consistent_md5" => of(Placement::Consistent(Hash::Md5)),
        "ketama_weighted" | "ketama_weighted_prefix" => of(Placement::Ketama),
        "ketama_weighted_prefix_hashed" => (Placement::Ketama, "ns:"),
        "ketama_spy" => of(Placement::KetamaSpy),
        "dalli" => of(Placement::Dalli),
        _ => {
            let (points, prefix) = match name.strip_suffix("_hashns") {
                Some(points) => (points, "ns:"),
                None => (name, ""),
            };
            let points = points.strip_prefix("points").unwrap().parse().unwrap();
            (Placement::Fast { points }, prefix)
        }
    }
}

#[test]
fn keys_are_where_the_originals_place_them() {
    let lines = include_str!("placement.tsv").lines();
    let mut count = 0;
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, name, set, digits] = fields[..] else {
            panic!("{line}");
        };
        let (placement, prefix) = placement(name);
        let ring = Ring::new(&servers(set), placement).unwrap();
        let placed: String = (0..KEYS)
            .map(|i| ring.server_of(format!("{prefix}key:{i}").as_bytes()))
            .map(|server| char::from_digit(server as u32, 10).unwrap())
            .collect();
        assert!(placed == digits, "{name}, {set}");
        count += 1;
    }
    assert_eq!(count, 91);
}
