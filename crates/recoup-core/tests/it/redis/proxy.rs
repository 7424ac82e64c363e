//! Something between a client and a server, or in place of one: it counts those
//! who come, dribbles, breaks off, or says what it likes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Its threads end with their connections, or with the process.
#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    came: AtomicUsize,
    dribbles: AtomicBool,
    /// A question with this in it is passed on, its answer is not.
    cuts: Mutex<Option<String>>,
}

impl Proxy {
    /// Passes everything on to a server.
    pub(super) fn to(server: u16) -> Self {
        Self::serving(move |client, state| {
            if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                pass_on(client, server, state);
            }
        })
    }

    /// Answers everything with these words; hangs up at once if there are none.
    pub(super) fn saying(words: &'static [u8]) -> Self {
        Self::serving(move |mut client, _| {
            thread::spawn(move || {
                let mut question = [0; 4_096];
                while !words.is_empty() && client.read(&mut question).is_ok_and(|len| len > 0) {
                    if client.write_all(words).is_err() {
                        return;
                    }
                }
            });
        })
    }

    /// Answers each command with `+OK`, whatever it is.
    pub(super) fn agreeing() -> Self {
        Self::serving(|client, _| {
            thread::spawn(move || {
                let mut questions = BufReader::new(client);
                while pass_over_command(&mut questions).is_some() {
                    if questions.get_mut().write_all(b"+OK\r\n").is_err() {
                        return;
                    }
                }
            });
        })
    }

    fn serving(serve: impl Fn(TcpStream, &Arc<State>) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, state) = (listener.local_addr().unwrap().port(), Arc::<State>::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                shared.came.fetch_add(1, SeqCst);
                serve(client, &shared);
            }
        });
        Self { port, state }
    }

    /// How many have come so far.
    pub(super) fn came(&self) -> usize {
        self.state.came.load(SeqCst)
    }

    /// From now on one byte of the answers goes out at a time, ever more slowly.
    pub(super) fn dribble(&self) {
        self.state.dribbles.store(true, SeqCst);
    }

    pub(super) fn cut_the_answer_to(&self, question: &str) {
        *self.state.cuts.lock().unwrap() = Some(question.to_owned());
    }

    /// Whether it has done so.
    pub(super) fn has_cut(&self) -> bool {
        self.state.cuts.lock().unwrap().is_none()
    }
}

/// Reads one command: a list of texts, each with its length before it.
fn pass_over_command(from: &mut BufReader<TcpStream>) -> Option<()> {
    let number = |from: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        line.get(1..)?.trim().parse::<u64>().ok()
    };
    for _ in 0..number(from)? {
        let len = number(from)? + 2;
        std::io::copy(&mut from.take(len), &mut std::io::sink()).ok()?;
    }
    Some(())
}

fn pass_on(client: TcpStream, server: TcpStream, state: &Arc<State>) {
    let cut = Arc::new(AtomicBool::new(false));
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (shared, cutting) = (Arc::clone(state), Arc::clone(&cut));
    thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        while let Ok(len @ 1..) = from.read(&mut bytes) {
            let mut cuts = shared.cuts.lock().unwrap();
            let text = String::from_utf8_lossy(&bytes[..len]);
            if cuts.as_ref().is_some_and(|word| text.contains(word.as_str())) {
                cutting.store(true, SeqCst);
                *cuts = None;
            }
            drop(cuts);
            if to.write_all(&bytes[..len]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut from, mut to, shared) = (server, client, Arc::clone(state));
    thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        'passing: while let Ok(len @ 1..) = from.read(&mut bytes) {
            if cut.load(SeqCst) {
                break;
            }
            let step = if shared.dribbles.load(SeqCst) { 1 } else { len };
            for bytes in bytes[..len].chunks(step) {
                if to.write_all(bytes).is_err() {
                    break 'passing;
                }
                if step == 1 {
                    thread::sleep(Duration::from_millis(50));
                }
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
