//! The page's side of a worker: starts it, numbers its requests, and restarts it with what it held
//! when it stops. Each worker is a module of its own, fetched only when it is needed. Where no
//! worker can be had (an old browser, a strict host page) the compute worker's module runs on the
//! main thread: slower, with the same numbers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::oneshot;
use js_sys::{Array, Function, Promise, Reflect};
use leptos::prelude::{set_timeout, window};
use leptos::task::spawn_local;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob as JsBlob, BlobPropertyBag, MessageChannel, MessageEvent, MessagePort, Url, Worker,
    WorkerOptions,
};

use super::message::{PORT, post, read};
use crate::build_files;
use attnscope_engine::recovery::Restarts;
use attnscope_worker::Blob;
use attnscope_worker::blobs::BlobReader;
use attnscope_worker::codec::{decode, encode};
use attnscope_worker::compute_protocol::KEPT_LAYERS;

/// Time within which a worker must report that it runs; it does so before it fetches anything.
const BEGIN: Duration = Duration::from_secs(10);

/// The bytes of a response and its blobs, or why there is none.
type Reply = Result<(Vec<u8>, Vec<Blob>), String>;

/// What becomes of a request when the worker stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Resend {
    /// The caller gets an error.
    Never,
    /// The next worker gets it, if it was not answered.
    IfOpen,
    /// The next worker gets it in any case: this request is part of the worker's state. The last
    /// [`KEPT_LAYERS`] of them are kept.
    State,
}

/// A worker, seen from the page; clones share the worker.
#[derive(Clone, Default)]
pub struct WorkerClient {
    inner: Rc<RefCell<Inner>>,
}

/// The page's workers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Compute,
    Cpu,
}

impl Kind {
    /// Its name in the developer tools.
    fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Cpu => "cpu",
        }
    }

    /// Its script, as the build names it.
    fn script(self) -> &'static str {
        match self {
            Self::Compute => "compute.js",
            Self::Cpu => "cpu.js",
        }
    }
}

#[derive(Default)]
struct Inner {
    /// Which worker it is.
    kind: Kind,
    state: State,
    next: u32,
    open: Vec<Open>,
    /// Requests that a restarted worker must get first.
    held: VecDeque<Request>,
    /// How many workers have stopped; late messages of theirs are ignored.
    gone: u32,
    restarts: Restarts,
    /// Time from which on there is a worker.
    since: f64,
    /// The present worker has reported that it runs.
    begun: bool,
    /// A worker has answered at least once.
    has_run: bool,
    /// Gets the reason when the worker is given up.
    told: Option<Rc<dyn Fn(String)>>,
    /// Called when the CPU engine's worker has stopped and may be restarted.
    stopped: Option<Rc<dyn Fn()>>,
}

/// A numbered request.
#[derive(Clone)]
struct Request {
    number: u32,
    message: Rc<[u8]>,
    blobs: Vec<Rc<Blob>>,
}

/// A caller who waits for an answer.
struct Open {
    number: u32,
    sender: oneshot::Sender<Reply>,
    /// What the next worker is sent when this one stops.
    again: Option<Request>,
}

enum State {
    /// Not started: requests wait for [`WorkerClient::release`].
    Idle(VecDeque<Request>),
    /// Started, but not running yet: requests wait.
    Starting {
        worker: Handle,
        waiting: VecDeque<Request>,
    },
    /// Running.
    Running(Handle),
    /// Given up after too many stops, with the last reason.
    GivenUp(String),
}

impl Default for State {
    fn default() -> Self {
        Self::Idle(VecDeque::new())
    }
}

/// A worker, or a module on this thread behind a port.
struct Handle {
    /// A worker posts and hears messages as a port does.
    port: MessagePort,
    worker: Option<Worker>,
    _heard: Closure<dyn FnMut(MessageEvent)>,
    _failed: Option<Closure<dyn FnMut(web_sys::Event)>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.port.set_onmessage(None);
        if let Some(worker) = &self.worker {
            worker.set_onerror(None);
            worker.set_onmessageerror(None);
            worker.terminate();
        } else {
            self.port.close();
        }
    }
}

impl Inner {
    /// Removes and returns the caller who waits for answer `number`.
    fn take(&mut self, number: u32) -> Option<oneshot::Sender<Reply>> {
        let at = self.open.iter().position(|open| open.number == number)?;
        Some(self.open.swap_remove(at).sender)
    }

    /// What the next worker is sent: its state first, then unanswered requests, in order.
    fn left(&self) -> VecDeque<Request> {
        let mut left = self.held.clone();
        let mut open: Vec<_> = (self.open.iter())
            .filter_map(|open| open.again.clone())
            .collect();
        open.sort_by_key(|request| request.number);
        left.extend(open);
        left
    }
}

impl WorkerClient {
    /// The compute worker; `told` gets the reason when it is given up.
    pub fn of_compute(told: impl Fn(String) + 'static) -> Self {
        let client = Self::default();
        client.inner.borrow_mut().told = Some(Rc::new(told));
        client
    }

    /// The CPU engine's worker, which is a module of its own.
    pub fn of_cpu() -> Self {
        let client = Self::default();
        client.inner.borrow_mut().kind = Kind::Cpu;
        client
    }

    /// `act` runs when the worker has stopped and the next request will restart it.
    pub fn on_stop(&self, act: impl Fn() + 'static) {
        self.inner.borrow_mut().stopped = Some(Rc::new(act));
    }

    /// How many workers have stopped; each lost what it was sent.
    pub fn gone(&self) -> u32 {
        self.inner.borrow().gone
    }

    /// The worker is given up.
    pub fn has_given_up(&self) -> bool {
        matches!(self.inner.borrow().state, State::GivenUp(_))
    }

    /// Sends a request and waits for the response. Before [`WorkerClient::release`] it is held
    /// back.
    ///
    /// # Errors
    /// In words, when there will be no response or it cannot be decoded.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        request: &impl Serialize,
        blobs: Vec<Rc<Blob>>,
        resend: Resend,
    ) -> Result<(T, BlobReader), String> {
        let (message, blobs) = self.send(encode(request).into(), blobs, resend).await?;
        let response = decode(&message).map_err(|why| why.to_string())?;
        Ok((response, BlobReader::new(blobs)))
    }

    async fn send(&self, message: Rc<[u8]>, blobs: Vec<Rc<Blob>>, resend: Resend) -> Reply {
        let (sender, receiver) = oneshot::channel();
        let request = {
            let mut inner = self.inner.borrow_mut();
            inner.next = inner.next.wrapping_add(1);
            let request = Request {
                number: inner.next,
                message,
                blobs,
            };
            if resend == Resend::State {
                inner.held.push_back(request.clone());
                if inner.held.len() > KEPT_LAYERS {
                    inner.held.pop_front();
                }
            }
            inner.open.push(Open {
                number: request.number,
                sender,
                again: (resend == Resend::IfOpen).then(|| request.clone()),
            });
            request
        };
        self.deliver(request);
        let gone = |_| Err("the worker is gone".to_owned());
        receiver.await.unwrap_or_else(gone)
    }

    /// Starts the worker, unless it was started already.
    pub fn release(&self) {
        let waiting = match &mut self.inner.borrow_mut().state {
            State::Idle(waiting) => std::mem::take(waiting),
            _ => return,
        };
        self.begin(waiting);
    }

    /// Starts a worker again that was given up.
    pub fn restart(&self) {
        if self.has_given_up() {
            let mut inner = self.inner.borrow_mut();
            inner.restarts = Restarts::default();
            let left = inner.left();
            drop(inner);
            self.begin(left);
        }
    }

    /// Ends the worker; open requests get no answer.
    pub fn close(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.gone += 1;
        let ended = (
            std::mem::take(&mut inner.state),
            std::mem::take(&mut inner.open),
        );
        drop(inner);
        drop(ended);
    }

    /// Starts a worker that will be sent these requests.
    fn begin(&self, waiting: VecDeque<Request>) {
        match self.start() {
            Ok(worker) => {
                let mut inner = self.inner.borrow_mut();
                (inner.since, inner.begun) = (now(), false);
                inner.state = State::Starting { worker, waiting };
                let (client, serial) = (self.clone(), inner.gone);
                let mute = move || {
                    if !client.inner.borrow().begun {
                        client.stopped(serial, None);
                    }
                };
                set_timeout(mute, BEGIN);
            }
            Err(why) => self.without_worker(waiting, why_of(message_of(&why))),
        }
    }

    fn deliver(&self, request: Request) {
        let mut inner = self.inner.borrow_mut();
        match &mut inner.state {
            State::Idle(waiting) | State::Starting { waiting, .. } => waiting.push_back(request),
            State::Running(handle) => {
                let number = request.number;
                if post(&handle.port, number, &request.message, &request.blobs).is_err() {
                    inner.take(number);
                }
            }
            State::GivenUp(why) => {
                let why = why.clone();
                if let Some(sender) = inner.take(request.number) {
                    // A receiver that is gone needs no answer.
                    let _ = sender.send(Err(why));
                }
            }
        }
    }

    /// Only the compute worker's module may run on this thread; the CPU engine would block the
    /// page.
    fn without_worker(&self, waiting: VecDeque<Request>, why: String) {
        let started = match self.inner.borrow().kind {
            Kind::Compute => self.start_here().ok(),
            Kind::Cpu => None,
        };
        if let Some(worker) = started {
            self.inner.borrow_mut().state = State::Starting { worker, waiting };
        } else {
            self.give_up(why);
        }
    }

    /// Starts the module on this thread; its requests and responses go through a port.
    fn start_here(&self) -> Result<Handle, JsValue> {
        let global = js_sys::global();
        let channel = MessageChannel::new()?;
        Reflect::set(&global, &PORT.into(), &channel.port2())?;
        let (kind, serial) = (self.inner.borrow().kind, self.gone());
        let import: Function = Reflect::get(&global, &"attnscopeImport".into())?.dyn_into()?;
        let glue = import.call1(
            &JsValue::UNDEFINED,
            &build_files::address(kind.script())?.into(),
        )?;
        let glue: Promise = glue.dyn_into()?;
        let port = channel.port1();
        let client = self.clone();
        let heard = Closure::new(move |event: MessageEvent| client.hear(&event, "", serial));
        port.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        let client = self.clone();
        spawn_local(async move {
            let started = async {
                let glue = JsFuture::from(glue).await?;
                let start: Function = Reflect::get(&glue, &"default".into())?.dyn_into()?;
                JsFuture::from(start.call0(&JsValue::UNDEFINED)?.dyn_into::<Promise>()?).await
            };
            if let Err(why) = started.await
                && client.gone() == serial
            {
                client.give_up(why_of(message_of(&why)));
            }
        });
        Ok(Handle {
            port,
            worker: None,
            _heard: heard,
            _failed: None,
        })
    }

    fn give_up(&self, why: String) {
        let mut inner = self.inner.borrow_mut();
        inner.state = State::GivenUp(why.clone());
        let (open, told) = (std::mem::take(&mut inner.open), inner.told.clone());
        drop(inner);
        for open in open {
            // A receiver that is gone needs no answer.
            let _ = open.sender.send(Err(why.clone()));
        }
        if let Some(told) = told {
            told(why);
        }
    }

    fn start(&self) -> Result<Handle, JsValue> {
        let kind = self.inner.borrow().kind;
        let glue = build_files::address(kind.script())?;
        // A blob, because in a sandboxed frame no script address is same-origin; a classic worker
        // with import(), because Chromium fails module workers from blobs there. A failed import is
        // rethrown where the page hears it. No event reports a worker that is ended from outside:
        // its lock does, where there are locks.
        let script = format!(
            "onmessage = () => {{ onmessage = null; postMessage('begun'); navigator.locks?.request(location.href, () => {{ postMessage('held'); return new Promise(() => {{}}); }}).catch(() => {{}}); import({}).then((glue) => glue.default()).catch((e) => setTimeout(() => {{ throw e; }})); }};",
            js_sys::JSON::stringify(&glue.into())?
        );
        let options = BlobPropertyBag::new();
        options.set_type("text/javascript");
        let blob =
            JsBlob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &options)?;
        let address = Url::create_object_url_with_blob(&blob)?;
        let options = WorkerOptions::new();
        options.set_name(kind.name());
        let worker = Worker::new_with_options(&address, &options)?;
        let (client, serial) = (self.clone(), self.gone());
        let heard = Closure::new(move |event: MessageEvent| {
            client.hear(&event, &address, serial);
        });
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        let client = self.clone();
        let failed = Closure::new(move |event: web_sys::Event| {
            client.stopped(serial, message_of(&event));
        });
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        worker.set_onmessageerror(Some(failed.as_ref().unchecked_ref()));
        worker.post_message(&"begin".into())?;
        Ok(Handle {
            port: worker.clone().unchecked_into(),
            worker: Some(worker),
            _heard: heard,
            _failed: Some(failed),
        })
    }

    fn hear(&self, event: &MessageEvent, lock: &str, serial: u32) {
        self.inner.borrow_mut().begun = true;
        let Some((number, message, blobs)) = read(event) else {
            match event.data().as_string().as_deref() {
                Some("ready") => self.running(),
                Some("held") => self.watch(lock, serial),
                _ => {}
            }
            return;
        };
        if let Some(sender) = self.inner.borrow_mut().take(number) {
            // A receiver that is gone needs no answer.
            let _ = sender.send(Ok((message, blobs)));
        }
    }

    /// The worker has reported that it runs.
    fn running(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.has_run = true;
        if let State::Starting { worker, waiting } = std::mem::take(&mut inner.state) {
            inner.state = State::Running(worker);
            drop(inner);
            for request in waiting {
                self.deliver(request);
            }
        }
    }

    /// Waits for the lock that worker number `serial` holds as long as it lives.
    fn watch(&self, lock: &str, serial: u32) {
        let client = self.clone();
        let granted = Closure::once_into_js(move || client.stopped(serial, None));
        let request = || {
            let locks = Reflect::get(&window().navigator(), &"locks".into())?;
            let request: Function = Reflect::get(&locks, &"request".into())?.dyn_into()?;
            let promise = request.call2(&locks, &lock.into(), &granted)?;
            promise.dyn_into::<Promise>()
        };
        if let Ok(promise) = request() {
            // A page that may not wait for locks still hears errors.
            spawn_local(async move {
                let _ = JsFuture::from(promise).await;
            });
        }
    }

    /// Worker number `serial` could not start, or has stopped, with its own reason. The next one
    /// gets its state and its unanswered requests; the CPU engine's client is told, and sends its
    /// Frame again.
    fn stopped(&self, serial: u32, why: Option<String>) {
        let mut inner = self.inner.borrow_mut();
        if inner.gone != serial {
            return;
        }
        inner.gone += 1;
        let ran = now() - inner.since;
        let again = inner.restarts.stopped(ran);
        let (old, computes) = (
            std::mem::take(&mut inner.state),
            inner.kind == Kind::Compute,
        );
        let (left, has_run) = (inner.left(), inner.has_run);
        let lost = if again && !computes {
            std::mem::take(&mut inner.open)
        } else {
            Vec::new()
        };
        drop(inner);
        drop(old);
        let why = why_of(why);
        match (again, computes) {
            (true, true) => self.begin(left),
            // The next request starts it.
            (true, false) => {
                drop(lost);
                let stopped = self.inner.borrow().stopped.clone();
                if let Some(stopped) = stopped {
                    stopped();
                }
            }
            (false, true) if !has_run => self.without_worker(left, why),
            (false, _) => self.give_up(why),
        }
    }
}

fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// The reason as the page shows it.
fn why_of(message: Option<String>) -> String {
    message.unwrap_or_else(|| "no reason was given".to_owned())
}

/// The message of an error or an event, if it has one.
fn message_of(what: &JsValue) -> Option<String> {
    let message = Reflect::get(what, &"message".into()).ok()?;
    message.as_string().filter(|text| !text.is_empty())
}
