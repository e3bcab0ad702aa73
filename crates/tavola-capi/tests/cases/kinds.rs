//! Values as the cases write them, and as they are stored: bytes, with flags that say their kind.

use serde_json::Value as Json;

/// The flags of a kind: those of Tavola's bindings have this byte above.
const OURS: u32 = 0x54 << 24;
const TEXT: u32 = OURS | 1 << 16;
const INTEGER: u32 = OURS | 2 << 16;
const FLOAT: u32 = OURS | 3 << 16;
const JSON: u32 = OURS | 4 << 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bytes(Vec<u8>),
    /// One that JSON does not have.
    Float(f64),
    Known(Json),
}

/// A value in a table.
#[derive(Clone, Debug)]
pub struct Stored {
    pub flags: u32,
    pub bytes: Vec<u8>,
}

impl Value {
    /// Returns what is meant in a case.
    pub fn of(written: &Json) -> Self {
        let Some(form) = written.as_object() else {
            return Self::Known(written.clone());
        };
        if let (Some(hex), 1) = (form.get("hex"), form.len()) {
            let digits = hex.as_str().unwrap();
            let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
            return Self::Bytes((0..digits.len()).step_by(2).map(byte).collect());
        }
        if let (Some(float), 1) = (form.get("float"), form.len()) {
            return Self::Float(float.as_str().unwrap().parse().unwrap());
        }
        if let (Some(repeated), Some(times)) = (form.get("repeat"), form.get("times")) {
            let times = times.as_u64().unwrap() as usize;
            let then = form.get("then").map(Self::of);
            return match (Self::of(repeated), then) {
                (Self::Known(Json::String(text)), then) => {
                    let end = then.map_or(Vec::new(), |then| then.bytes());
                    let text = text.repeat(times) + std::str::from_utf8(&end).unwrap();
                    Self::Known(Json::String(text))
                }
                (bytes, then) => {
                    let mut all = bytes.bytes().repeat(times);
                    all.extend(then.map_or(Vec::new(), |then| then.bytes()));
                    Self::Bytes(all)
                }
            };
        }
        Self::Known(written.clone())
    }

    /// Returns the bytes of a value that is bytes or text.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Known(Json::String(text)) => text.into_bytes(),
            other => panic!("{other:?} has no bytes"),
        }
    }

    /// Returns how it is stored.
    pub fn stored(self) -> Stored {
        let (flags, bytes) = match self {
            Self::Bytes(bytes) => (0, bytes),
            Self::Float(float) => (FLOAT, text_of(float)),
            Self::Known(Json::String(text)) => (TEXT, text.into_bytes()),
            Self::Known(Json::Number(number)) if number.is_f64() => {
                (FLOAT, text_of(number.as_f64().unwrap()))
            }
            Self::Known(Json::Number(number)) => (INTEGER, number.to_string().into_bytes()),
            Self::Known(json) => (JSON, serde_json::to_vec(&json).unwrap()),
        };
        Stored { flags, bytes }
    }

    /// Returns whether it is the other one; nan is nan.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(one), Self::Float(other)) if one.is_nan() => other.is_nan(),
            _ => self == other,
        }
    }
}

fn text_of(float: f64) -> Vec<u8> {
    match float.is_nan() {
        true => b"nan".to_vec(),
        false => format!("{float:?}").into_bytes(),
    }
}

impl Stored {
    /// Returns the value, which is bytes if the flags say so, or the bytes are not of the kind that
    /// they say.
    pub fn read(self) -> Value {
        let text = std::str::from_utf8(&self.bytes).ok();
        let read = match self.flags & 0xFFFF_0000 {
            TEXT => text.map(|text| Value::Known(Json::from(text))),
            INTEGER => text.and_then(read_integer),
            FLOAT => text.and_then(read_float),
            JSON => serde_json::from_slice(&self.bytes).ok().map(Value::Known),
            _ => None,
        };
        read.unwrap_or(Value::Bytes(self.bytes))
    }
}

fn read_integer(text: &str) -> Option<Value> {
    let is_plain = !text.starts_with('+');
    let number = text.parse::<i64>().ok().filter(|_| is_plain)?;
    Some(Value::Known(Json::from(number)))
}

fn read_float(text: &str) -> Option<Value> {
    let float = text.parse::<f64>().ok()?;
    Some(match serde_json::Number::from_f64(float) {
        Some(number) => Value::Known(Json::Number(number)),
        None => Value::Float(float),
    })
}
