//! The page's side of a worker: it starts it, numbers the requests, and starts it again when it stops,
//! with what it held. Each worker is a module of its own, which nothing fetches before it is needed.
//! Where no worker can be had (an old browser, a strict host page) the compute worker's module runs on
//! the main thread, slower but with the same numbers.

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

/// A worker says at once that it has begun, before it fetches anything.
const BEGIN: Duration = Duration::from_secs(10);

/// The bytes of a response and its blobs, or why there is none.
type Reply = Result<(Vec<u8>, Vec<Blob>), String>;

/// What becomes of a request when the worker stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Resend {
    /// Whoever asked hears that there is no answer.
    Never,
    /// The next worker is asked, if there is no answer yet.
    IfOpen,
    /// The next worker is asked in any case: this request made the worker what it is. Of these the
    /// last [`KEPT_LAYERS`] are kept.
    State,
}

/// A worker from outside; clones are the same worker.
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
    /// Its name in the browser's tools.
    fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Cpu => "cpu",
        }
    }

    /// Its script, as the build calls it.
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
    /// What the worker that comes after this one must be told first.
    held: VecDeque<Request>,
    /// Workers that have stopped: what one of them still tells is let go.
    gone: u32,
    restarts: Restarts,
    /// Since when there is a worker.
    since: f64,
    /// Whether the present worker has said anything.
    begun: bool,
    /// Whether a worker has ever answered.
    has_run: bool,
    /// Who hears why no worker is started any more.
    told: Option<Rc<dyn Fn(String)>>,
    /// Who hears that the CPU engine's worker has stopped and may be started again.
    stopped: Option<Rc<dyn Fn()>>,
}

/// A request that has its number.
#[derive(Clone)]
struct Request {
    number: u32,
    message: Rc<[u8]>,
    blobs: Vec<Rc<Blob>>,
}

/// Who waits for an answer.
struct Open {
    number: u32,
    sender: oneshot::Sender<Reply>,
    /// What the next worker is asked, when this one stops.
    again: Option<Request>,
}

enum State {
    /// Not started: requests wait for [`WorkerClient::release`].
    Idle(VecDeque<Request>),
    /// Started, not yet answering: what was asked waits.
    Starting {
        worker: Handle,
        waiting: VecDeque<Request>,
    },
    /// Answering.
    Running(Handle),
    /// It has stopped too often, and why it did the last time.
    GivenUp(String),
}

impl Default for State {
    fn default() -> Self {
        Self::Idle(VecDeque::new())
    }
}

/// What answers: a worker, or a module on this thread behind a port.
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
    /// Who waits for the answer `number`, who then no longer waits.
    fn take(&mut self, number: u32) -> Option<oneshot::Sender<Reply>> {
        let at = self.open.iter().position(|open| open.number == number)?;
        Some(self.open.swap_remove(at).sender)
    }

    /// What the next worker is asked: what it must know, then what has no answer yet, in its order.
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
    /// The compute worker; `told` hears why it is not started any more.
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

    /// `act` runs when the worker has stopped and the next request starts another.
    pub fn on_stop(&self, act: impl Fn() + 'static) {
        self.inner.borrow_mut().stopped = Some(Rc::new(act));
    }

    /// How many workers have stopped: with each of them goes what it was told.
    pub fn gone(&self) -> u32 {
        self.inner.borrow().gone
    }

    /// Whether no worker is started any more.
    pub fn has_given_up(&self) -> bool {
        matches!(self.inner.borrow().state, State::GivenUp(_))
    }

    /// Asks; the response comes whenever it is there. Before [`WorkerClient::release`] it waits.
    ///
    /// # Errors
    /// In words, when there will be no response, or one that is not understood.
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

    /// Starts the worker, if that has not happened yet.
    pub fn release(&self) {
        let waiting = match &mut self.inner.borrow_mut().state {
            State::Idle(waiting) => std::mem::take(waiting),
            _ => return,
        };
        self.begin(waiting);
    }

    /// Starts the worker again that has stopped too often.
    pub fn restart(&self) {
        if self.has_given_up() {
            let mut inner = self.inner.borrow_mut();
            inner.restarts = Restarts::default();
            let left = inner.left();
            drop(inner);
            self.begin(left);
        }
    }

    /// Ends the worker; what is open stays without an answer of its own.
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
                    // A receiver that is gone has no use for the answer.
                    let _ = sender.send(Err(why));
                }
            }
        }
    }

    /// The compute worker's module can run on this thread; the CPU engine would stop the page.
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
            // A receiver that is gone has no use for the answer.
            let _ = open.sender.send(Err(why.clone()));
        }
        if let Some(told) = told {
            told(why);
        }
    }

    fn start(&self) -> Result<Handle, JsValue> {
        let kind = self.inner.borrow().kind;
        let glue = build_files::address(kind.script())?;
        // A blob, because in a sandboxed frame no script of any address is of the same origin; a
        // classic worker with import(), because there Chromium fails module workers from blobs. A
        // failed import is thrown again where the page hears of it. Of a worker that is ended from
        // outside no event tells: its lock does, where there are locks.
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
            // A receiver that is gone has no use for the answer.
            let _ = sender.send(Ok((message, blobs)));
        }
    }

    /// The worker said that it is there.
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

    /// Waits for the lock that worker number `serial` holds as long as it is there.
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
            // A page that may wait for no lock hears of errors all the same.
            spawn_local(async move {
                let _ = JsFuture::from(promise).await;
            });
        }
    }

    /// Worker number `serial` could not start, or stopped, in its own words. The next one gets what it
    /// held and what it has not answered; the CPU engine's page is told, and sends its Frame again.
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
            // It is started by the next request.
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

/// The reason as it is said.
fn why_of(message: Option<String>) -> String {
    message.unwrap_or_else(|| "no reason was given".to_owned())
}

/// What an error or an event says of itself, if anything.
fn message_of(what: &JsValue) -> Option<String> {
    let message = Reflect::get(what, &"message".into()).ok()?;
    message.as_string().filter(|text| !text.is_empty())
}
