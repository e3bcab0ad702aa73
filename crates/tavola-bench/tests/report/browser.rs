//! A headless Chromium, spoken to over a pipe in its own protocol (DevTools).

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What it may take on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// The browser's program: `CHROMIUM`, or what `PATH` has.
pub fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// One page of one browser with a profile of its own.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    /// What it told without being asked.
    pub events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    pub fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        // The browser reads commands from its descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let input = child.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while answers
                .read_until(0, &mut message)
                .is_ok_and(|count| count > 0)
            {
                message.pop();
                let value = serde_json::from_slice(&message).expect("JSON");
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            input,
            output,
            session: None,
            calls: 0,
            events: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.call("Target.attachToTarget", attach);
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Sends a command and waits for its answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        let end = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(end, method);
            if message["id"] == self.calls {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&self, end: Instant, what: &str) -> Value {
        let left = end.saturating_duration_since(Instant::now());
        let message = self.output.recv_timeout(left);
        message.unwrap_or_else(|why| panic!("{what}: the browser does not answer: {why}"))
    }

    /// What an expression in the page comes to.
    pub fn ask(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        let failed = answer.get("exceptionDetails");
        assert!(failed.is_none(), "{expression}: {failed:?}");
        answer["result"]["value"].clone()
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        self.events.clear();
        self.call(
            "Page.navigate",
            json!({"url": format!("file://{}", file.display())}),
        );
        let end = Instant::now() + PATIENCE;
        let loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(loaded) {
            let event = self.receive(end, "loading");
            self.events.push(event);
        }
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.settle();
    }

    pub fn scheme(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Two frames later all that was to be drawn is.
    pub fn settle(&mut self) {
        self.ask(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => \
                  setTimeout(done, 0))))",
        );
    }

    /// Presses a key as a hand would.
    pub fn press(&mut self, key: &str, code: u32) {
        let text = if key == " " { " " } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "text": text,
                "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// A picture of the whole page.
    pub fn picture(&mut self) -> Vec<u8> {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        decode(&self.call("Page.captureScreenshot", params))
    }

    pub fn pdf(&mut self) -> Vec<u8> {
        decode(&self.call("Page.printToPDF", json!({"printBackground": true})))
    }

    /// What went wrong in the page, and what it asked a network for.
    pub fn complaints(&self) -> Vec<String> {
        let of_concern = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => true,
            Some("Log.entryAdded") => event["params"]["entry"]["level"] != "verbose",
            Some("Network.requestWillBeSent") => {
                let url = event["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or_default();
                !url.starts_with("file:") && !url.starts_with("data:")
            }
            _ => false,
        };
        let events = self.events.iter().filter(of_concern);
        events.map(Value::to_string).collect()
    }
}

fn decode(answer: &Value) -> Vec<u8> {
    let data = answer["data"].as_str().expect("data");
    let engine = base64::engine::general_purpose::STANDARD;
    engine.decode(data).expect("base64")
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The processes of its pages end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
