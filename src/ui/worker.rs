//! The worker: the same module, started a second time off the main thread, in which
//! [`Calculator`] answers. The CPU engine has one of its own. Where no worker can be had (an old
//! browser, a strict host page) the calculator answers on the main thread, slower but with the same
//! numbers.

mod message;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use futures_channel::oneshot;
use js_sys::{Array, Reflect};
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::Worker;
use web_sys::{Blob as JsBlob, BlobPropertyBag, MessageEvent, Url};

use self::message::{post, read};
use super::calc::{Answer, Ask, Blob, Calculator};

pub use self::message::{answer_with, serve};

type Reply = (Answer, Vec<Blob>);

/// The page's side of the calculator.
#[derive(Clone, Default)]
pub struct Client {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Default)]
struct Inner {
    /// The module that answers in the worker: "" is this one.
    module: &'static str,
    state: State,
    next: u32,
    open: Vec<(u32, oneshot::Sender<Reply>)>,
}

enum State {
    /// Not started: what can wait waits until [`Client::release`] or until something cannot.
    Idle(VecDeque<(u32, Ask, Vec<Blob>)>),
    /// Started, not yet answering: what was asked waits.
    Starting {
        worker: Handle,
        waiting: VecDeque<(u32, Ask, Vec<Blob>)>,
    },
    /// Answering.
    Running(Handle),
    /// No worker to be had: the calculator is here.
    Here(Box<Calculator>),
}

impl Default for State {
    fn default() -> Self {
        Self::Idle(VecDeque::new())
    }
}

struct Handle {
    worker: Worker,
    _heard: Closure<dyn FnMut(MessageEvent)>,
    _failed: Closure<dyn FnMut(web_sys::Event)>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

impl Inner {
    /// Who waits for the answer `number`, who then no longer waits.
    fn take(&mut self, number: u32) -> Option<oneshot::Sender<Reply>> {
        let at = self.open.iter().position(|(waits, _)| *waits == number)?;
        Some(self.open.swap_remove(at).1)
    }
}

impl Client {
    /// The page's side of the CPU engine, which is a module of its own.
    pub fn of_painter() -> Self {
        let client = Self::default();
        client.inner.borrow_mut().module = "cpu";
        client
    }

    /// Asks the calculator; the answer comes whenever it is there.
    pub async fn ask(&self, ask: Ask, blobs: Vec<Blob>) -> Reply {
        self.release();
        self.ask_later(ask, blobs).await
    }

    /// The same, but before the first picture is there the question waits: starting the worker
    /// takes time that the picture needs.
    pub async fn ask_later(&self, ask: Ask, blobs: Vec<Blob>) -> Reply {
        let (sender, receiver) = oneshot::channel();
        let number = {
            let mut inner = self.inner.borrow_mut();
            inner.next = inner.next.wrapping_add(1);
            let number = inner.next;
            inner.open.push((number, sender));
            number
        };
        self.deliver(number, ask, blobs);
        receiver
            .await
            .unwrap_or((Answer::Failed("the worker is gone".into()), Vec::new()))
    }

    /// Starts the worker, if that has not happened yet.
    pub fn release(&self) {
        let waiting = {
            let mut inner = self.inner.borrow_mut();
            match &mut inner.state {
                State::Idle(waiting) => std::mem::take(waiting),
                _ => return,
            }
        };
        let state = match self.start() {
            Ok(worker) => State::Starting {
                worker,
                waiting: VecDeque::new(),
            },
            Err(_) => self.without_worker(),
        };
        self.inner.borrow_mut().state = state;
        for (number, ask, blobs) in waiting {
            self.deliver(number, ask, blobs);
        }
    }

    /// Ends the worker; what is open stays without an answer of its own.
    pub fn close(&self) {
        let (state, open) = {
            let mut inner = self.inner.borrow_mut();
            (
                std::mem::take(&mut inner.state),
                std::mem::take(&mut inner.open),
            )
        };
        drop((state, open));
    }

    fn deliver(&self, number: u32, ask: Ask, blobs: Vec<Blob>) {
        let mut inner = self.inner.borrow_mut();
        match &mut inner.state {
            State::Idle(waiting) | State::Starting { waiting, .. } => {
                waiting.push_back((number, ask, blobs));
            }
            State::Running(handle) => {
                if post(
                    |m, t| handle.worker.post_message_with_transfer(m, t),
                    number,
                    &ask.to_text(),
                    &blobs,
                )
                .is_err()
                {
                    inner.take(number);
                }
            }
            State::Here(_) => {
                drop(inner);
                self.answer_here(number, ask, blobs);
            }
        }
    }

    /// Answers on this thread, after the event at hand.
    fn answer_here(&self, number: u32, ask: Ask, blobs: Vec<Blob>) {
        let client = self.clone();
        spawn_local(async move {
            let mut inner = client.inner.borrow_mut();
            let State::Here(calculator) = &mut inner.state else {
                return;
            };
            let reply = calculator.answer(&ask, &blobs);
            if let Some(sender) = inner.take(number) {
                // A receiver that is gone has no use for the answer.
                let _ = sender.send(reply);
            }
        });
    }

    /// The calculator can be here; the CPU engine's module is not, and waits to be asked again.
    fn without_worker(&self) -> State {
        if self.inner.borrow().module.is_empty() {
            State::Here(Box::default())
        } else {
            self.inner.borrow_mut().open.clear();
            State::default()
        }
    }

    fn start(&self) -> Result<Handle, JsValue> {
        let name = self.inner.borrow().module;
        // Another module fetches itself.
        let (glue, module) = if name.is_empty() {
            let module = Reflect::get(&js_sys::global(), &"attnscopeModule".into())?;
            if module.is_undefined() {
                return Err("the module was not handed over".into());
            }
            ("attnscope.js".to_owned(), module)
        } else {
            (format!("{name}.js"), JsValue::UNDEFINED)
        };
        let document = leptos::prelude::document();
        let base = document.base_uri()?.unwrap_or_default();
        let glue = Url::new_with_base(&glue, &base)?.href();
        // A blob, because in a sandboxed frame no script of any address is of the same origin; a
        // classic worker with import(), because there Chromium fails module workers from blobs. A
        // failed import is thrown again where the page hears of it.
        let script = format!(
            "onmessage = (e) => {{ onmessage = null; import({}).then((glue) => glue.default({{ module_or_path: e.data }})).catch((e) => setTimeout(() => {{ throw e; }})); }};",
            js_sys::JSON::stringify(&glue.into())?
        );
        let options = BlobPropertyBag::new();
        options.set_type("text/javascript");
        let blob =
            JsBlob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &options)?;
        let address = Url::create_object_url_with_blob(&blob)?;
        let worker = Worker::new(&address)?;
        let client = self.clone();
        let heard = Closure::new(move |event: MessageEvent| client.hear(&event));
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        let client = self.clone();
        let failed = Closure::new(move |_: web_sys::Event| client.fall_back());
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        worker.post_message(&module)?;
        Ok(Handle {
            worker,
            _heard: heard,
            _failed: failed,
        })
    }

    fn hear(&self, event: &MessageEvent) {
        let Some((number, message, blobs)) = read(event) else {
            self.running();
            return;
        };
        let answer = Answer::from_text(&message)
            .unwrap_or_else(|| Answer::Failed("not understood".to_owned()));
        if let Some(sender) = self.inner.borrow_mut().take(number) {
            let _ = sender.send((answer, blobs));
        }
    }

    /// The worker said that it is there.
    fn running(&self) {
        let mut inner = self.inner.borrow_mut();
        if let State::Starting { worker, waiting } = std::mem::take(&mut inner.state) {
            inner.state = State::Running(worker);
            drop(inner);
            for (number, ask, blobs) in waiting {
                self.deliver(number, ask, blobs);
            }
        }
    }

    /// The worker could not start, or died: what waits is answered here, what it had is lost.
    fn fall_back(&self) {
        let state = self.without_worker();
        let waiting = {
            let mut inner = self.inner.borrow_mut();
            let old = std::mem::replace(&mut inner.state, state);
            if let (State::Idle(waiting) | State::Starting { waiting, .. }, "") =
                (old, inner.module)
            {
                waiting
            } else {
                inner.open.clear();
                VecDeque::new()
            }
        };
        for (number, ask, blobs) in waiting {
            self.deliver(number, ask, blobs);
        }
    }
}
