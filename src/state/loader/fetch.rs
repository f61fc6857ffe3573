//! Files of a layer: fetched once, chunk by chunk with progress, and cancelled on request.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Reflect, Uint8Array};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader, RequestCache, RequestInit, Response};

use crate::build_files;
use crate::state::LayerState;
use crate::state::loader::{Loader, broken};
use crate::state::problem::Problem;
use attnscope_data::safetensors::ReadError;
use attnscope_worker::Blob;

impl Loader {
    /// The bytes of a file that was fetched before.
    fn known(&self, file: &str) -> Option<Rc<Blob>> {
        let files = self.files.borrow();
        let (_, bytes) = files.iter().find(|(name, _)| name == file)?;
        Some(bytes.clone())
    }

    /// Fetches a file once: its bytes and what `parse` reads from them. Only files that parse are
    /// kept; a file that does not is fetched past the browser's cache the next time.
    pub(super) async fn fetch<T>(
        &self,
        file: &str,
        progress: Option<&Progress>,
        parse: impl Fn(&[u8]) -> Result<T, ReadError>,
    ) -> Result<(Rc<Blob>, T), Problem> {
        let bytes = match self.known(file) {
            Some(bytes) => bytes,
            None => Rc::new(self.answer(file, progress).await?),
        };
        let parsed = parse(&bytes).map_err(|why| {
            self.distrust(file);
            broken(file, &why.to_string())
        })?;
        if self.known(file).is_none() {
            let kept = (file.to_owned(), bytes.clone());
            self.files.borrow_mut().push(kept);
            self.distrusted.borrow_mut().retain(|name| name != file);
        }
        Ok((bytes, parsed))
    }

    /// The server's answer for `file`, unchecked.
    async fn answer(&self, file: &str, progress: Option<&Progress>) -> Result<Blob, Problem> {
        let abort = AbortController::new().ok();
        let init = RequestInit::new();
        init.set_signal(abort.as_ref().map(AbortController::signal).as_ref());
        if self.distrusted.borrow().iter().any(|name| name == file) {
            init.set_cache(RequestCache::Reload);
        }
        self.abort.borrow_mut().clone_from(&abort);
        let missing = |status| Problem::FileMissing {
            file: file.to_owned(),
            status,
        };
        let address = build_files::data(file).map_err(|_| missing(0))?;
        let response = JsFuture::from(window().fetch_with_str_and_init(&address, &init))
            .await
            .ok()
            .and_then(|r| r.dyn_into::<Response>().ok())
            .ok_or_else(|| missing(0))?;
        if !response.ok() {
            self.distrust(file);
            return Err(missing(response.status()));
        }
        read(&response, progress)
            .await
            .map_err(|_| broken(file, "the connection broke off"))
    }

    /// The browser's cached copy of `file` must not be used.
    fn distrust(&self, file: &str) {
        let mut distrusted = self.distrusted.borrow_mut();
        if !distrusted.iter().any(|name| name == file) {
            distrusted.push(file.to_owned());
        }
    }
}

/// Bytes of all files of one load together.
pub(super) struct Progress {
    loader: Loader,
    run: u32,
    done: Cell<u64>,
    total: Cell<u64>,
}

impl Progress {
    /// Progress of load number `run` of `loader`.
    pub(super) fn new(loader: &Loader, run: u32) -> Self {
        Self {
            loader: loader.clone(),
            run,
            done: Cell::new(0),
            total: Cell::new(0),
        }
    }

    fn expect(&self, bytes: u64) {
        self.total.set(self.total.get() + bytes);
    }

    fn add(&self, bytes: u64) {
        self.done.set(self.done.get() + bytes);
        if !self.loader.is_newest(self.run) {
            return;
        }
        let (so_far, all) = (self.done.get(), self.total.get());
        self.loader.state.layer.update(|state| {
            if let LayerState::Loading { done, total, .. } = state {
                *done = so_far;
                *total = (all >= so_far).then_some(all);
            }
        });
    }
}

/// Reads a body chunk by chunk, to report progress.
async fn read(response: &Response, progress: Option<&Progress>) -> Result<Blob, JsValue> {
    let length = response
        .headers()
        .get("content-length")
        .ok()
        .flatten()
        .and_then(|text| text.parse::<u64>().ok());
    if let (Some(progress), Some(length)) = (progress, length) {
        progress.expect(length);
    }
    let body = response.body().ok_or("no body")?;
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let mut bytes = Vec::new();
    loop {
        let piece = JsFuture::from(reader.read()).await?;
        if Reflect::get(&piece, &"done".into())?.is_truthy() {
            return Ok(bytes);
        }
        let array: Uint8Array = Reflect::get(&piece, &"value".into())?.dyn_into()?;
        bytes.extend(array.to_vec());
        if let Some(progress) = progress {
            progress.add(u64::from(array.length()));
        }
    }
}
