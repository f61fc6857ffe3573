//! The canvases of the page: their sizes in device pixels and their surfaces.

use std::cell::RefCell;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ResizeObserver};

use crate::layout::extent::{Cells, map_pixels, output_pixels};
use crate::scheduler::active_engine::ActiveEngine;
use attnscope_engine::{Engine, EngineError};
use attnscope_engine_gpu::Slot;

/// The canvases of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanvasSlot {
    /// The large map.
    Map = 0,
    /// The strip of heads.
    Strip = 1,
    /// The layer output.
    Output = 2,
}

impl From<CanvasSlot> for Slot {
    fn from(slot: CanvasSlot) -> Self {
        match slot {
            CanvasSlot::Map => Self::Map,
            CanvasSlot::Strip => Self::Strip,
            CanvasSlot::Output => Self::Output,
        }
    }
}

const SLOTS: [CanvasSlot; 3] = [CanvasSlot::Map, CanvasSlot::Strip, CanvasSlot::Output];
/// The largest texture size within WebGPU's default limits.
const MAX_PIXELS: u32 = 8192;

struct Canvas {
    element: HtmlCanvasElement,
    /// Size of the drawing buffer.
    size: (u32, u32),
    /// Size of the element in device pixels.
    extent: (u32, u32),
    attached: bool,
    /// There is a picture on it.
    drawn: bool,
    /// Whether an engine has had it: another kind of context needs another element.
    used: bool,
    observer: ResizeObserver,
    _seen: Closure<dyn FnMut()>,
}

impl Drop for Canvas {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// The canvases on the page.
#[derive(Default)]
pub struct Canvases {
    slots: [Option<Canvas>; 3],
    /// The size of an element may have changed. Measuring forces a layout, so it is not done on
    /// every frame.
    moved: bool,
    /// Why the engine cannot draw to one of them.
    failure: Option<EngineError>,
    /// Device pixel ratio at the last measurement.
    ratio: f64,
    /// During print: a copy of what the map's canvas shows. A GPU canvas is blank on paper.
    copy: Option<HtmlCanvasElement>,
    /// Theme named by the root element, and the colour between two maps in it.
    ground: RefCell<Option<(String, [u8; 3])>>,
}

impl Canvases {
    /// Adds a canvas.
    pub fn attach(
        &mut self,
        slot: CanvasSlot,
        element: HtmlCanvasElement,
        engine: Option<&mut ActiveEngine>,
    ) {
        let seen = Closure::<dyn FnMut()>::new(crate::scheduler::resized);
        let Ok(observer) = ResizeObserver::new(seen.as_ref().unchecked_ref()) else {
            return;
        };
        observer.observe(&element);
        let mut canvas = Canvas {
            element,
            size: (0, 0),
            extent: (0, 0),
            attached: false,
            drawn: false,
            used: false,
            observer,
            _seen: seen,
        };
        if let Some(engine) = engine {
            self.failure = canvas.open(slot, engine).err().or(self.failure.take());
        }
        self.slots[slot as usize] = Some(canvas);
        self.moved = true;
    }

    /// The size of an element may have changed.
    pub fn moved(&mut self) {
        self.moved = true;
    }

    /// Removes a canvas.
    pub fn detach(&mut self, slot: CanvasSlot, engine: Option<&mut ActiveEngine>) {
        self.slots[slot as usize] = None;
        if let Some(engine) = engine {
            engine.detach(slot.into());
        }
    }

    /// Gives all canvases to a new engine.
    pub fn attach_all(&mut self, engine: &mut ActiveEngine) {
        self.failure = None;
        for slot in SLOTS {
            if let Some(canvas) = &mut self.slots[slot as usize] {
                canvas.size = (0, 0);
                self.failure = canvas.open(slot, engine).err().or(self.failure.take());
            }
        }
        self.moved = true;
    }

    /// Takes the reason why the engine cannot draw to one of the canvases.
    pub fn take_failure(&mut self) -> Option<EngineError> {
        self.failure.take()
    }

    /// Whether the map and the strip have a picture: without one, nothing is masked.
    pub fn drawn(&mut self, engine: &ActiveEngine) -> (bool, bool) {
        let [map, strip] = [CanvasSlot::Map, CanvasSlot::Strip].map(|slot| {
            self.slots[slot as usize].as_mut().is_some_and(|canvas| {
                let room = canvas.size.0 > 0 && canvas.size.1 > 0;
                canvas.drawn = room && (canvas.drawn || engine.has_drawn(slot.into()));
                canvas.drawn
            })
        });
        (map, strip)
    }

    /// Fits the drawing buffers to their elements; returns whether one changed. `cells` are those
    /// of the pictures.
    ///
    /// # Errors
    /// When the device cannot have a texture of that size, or cannot draw to a canvas.
    pub fn settle(
        &mut self,
        engine: &mut ActiveEngine,
        cells: Option<Cells>,
    ) -> Result<bool, EngineError> {
        if let Some(failure) = self.take_failure() {
            return Err(failure);
        }
        let ratio = window().device_pixel_ratio();
        let measure = std::mem::take(&mut self.moved) || ratio.to_bits() != self.ratio.to_bits();
        self.ratio = ratio;
        let cpu = engine.is_cpu();
        let mut any = false;
        for slot in SLOTS {
            let Some(canvas) = &mut self.slots[slot as usize] else {
                continue;
            };
            if measure {
                canvas.extent = canvas.pixels(ratio);
            }
            let (width, height) = canvas.extent;
            let size = match (slot, cells) {
                (CanvasSlot::Map, Some(Cells { map, .. })) => {
                    (map_pixels(width, map.1), map_pixels(height, map.0))
                }
                (CanvasSlot::Output, Some(cells)) => output_pixels(canvas.extent, cells.output),
                _ => canvas.extent,
            };
            if size != canvas.size && canvas.attached {
                canvas.size = size;
                if !cpu {
                    // Resizing clears the canvas.
                    canvas.drawn = false;
                    // Firefox reports an error for an empty buffer even when nothing is drawn.
                    canvas.element.set_width(size.0.max(1));
                    canvas.element.set_height(size.1.max(1));
                }
                engine.resize(slot.into(), size.0, size.1)?;
                any = true;
            }
        }
        Ok(any)
    }

    /// Puts a copy of the map over its canvas.
    pub fn copy_map(&mut self) {
        self.drop_copy();
        let Some(map) = &self.slots[CanvasSlot::Map as usize] else {
            return;
        };
        let copy = map.element.clone_node().ok();
        self.copy = copy.and_then(|copy| copy.dyn_into::<HtmlCanvasElement>().ok());
        let Some(copy) = &self.copy else { return };
        let context = copy.get_context("2d").ok().flatten();
        if let Some(context) = context.and_then(|it| it.dyn_into::<CanvasRenderingContext2d>().ok())
        {
            // The browser refuses an empty canvas: then there is nothing to copy.
            let _ = context.draw_image_with_html_canvas_element(&map.element, 0.0, 0.0);
        }
        let _ = map.element.after_with_node_1(copy);
    }

    /// Removes the copy.
    pub fn drop_copy(&mut self) {
        if let Some(copy) = self.copy.take() {
            copy.remove();
        }
    }

    /// Size in device pixels, if the canvas exists and is not empty.
    pub fn size(&self, slot: CanvasSlot) -> Option<(u32, u32)> {
        let canvas = self.slots[slot as usize].as_ref()?;
        (canvas.attached && canvas.size.0 > 0 && canvas.size.1 > 0).then_some(canvas.size)
    }

    /// The map's canvas exists but is empty: nothing can be seen.
    pub fn has_no_room(&self) -> bool {
        self.slots[CanvasSlot::Map as usize]
            .as_ref()
            .is_some_and(|canvas| canvas.attached && (canvas.size.0 == 0 || canvas.size.1 == 0))
    }

    /// The colour between two maps in the present theme, as sRGB bytes. Reading a style makes the
    /// browser compute all of them, so it is cached until the root element names another theme.
    pub fn ground(&self) -> [u8; 3] {
        let name = document()
            .document_element()
            .and_then(|root| root.get_attribute("data-theme"))
            .unwrap_or_default();
        if let Some((kept, ground)) = &*self.ground.borrow()
            && *kept == name
        {
            return *ground;
        }
        let ground = self.color("--map-ground").unwrap_or([255; 3]);
        *self.ground.borrow_mut() = Some((name, ground));
        ground
    }

    /// The custom property `#rrggbb`.
    fn color(&self, property: &str) -> Option<[u8; 3]> {
        let canvas = self.slots.iter().flatten().next()?;
        let style = window().get_computed_style(&canvas.element).ok()??;
        let text = style.get_property_value(property).ok()?;
        let hex = text.trim().strip_prefix('#').filter(|hex| hex.len() == 6)?;
        let number = u32::from_str_radix(hex, 16).ok()?;
        Some([(number >> 16) as u8, (number >> 8) as u8, number as u8])
    }
}

/// Tests whether `engine` can draw to a canvas, on one that is not on the page.
///
/// # Errors
/// Why it cannot.
pub fn tried(engine: &mut ActiveEngine) -> Result<(), EngineError> {
    let made = document().create_element("canvas").ok();
    let canvas = made.and_then(|made| made.dyn_into::<HtmlCanvasElement>().ok());
    let canvas = canvas.ok_or_else(|| EngineError::NoCanvas("there is none".to_owned()))?;
    let opened = open(engine, CanvasSlot::Map, canvas);
    engine.detach(Slot::Map);
    opened
}

/// Gives `engine` a canvas. A device that cannot draw to it fails only when the canvas gets a size.
fn open(
    engine: &mut ActiveEngine,
    slot: CanvasSlot,
    canvas: HtmlCanvasElement,
) -> Result<(), EngineError> {
    engine.attach_canvas(slot.into(), canvas)?;
    if !engine.is_cpu() {
        engine.resize(slot.into(), 1, 1)?;
    }
    engine.resize(slot.into(), 0, 0)
}

impl Canvas {
    fn open(&mut self, slot: CanvasSlot, engine: &mut ActiveEngine) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.used, true)
            && let Ok(fresh) = self.element.clone_node()
            && self.element.replace_with_with_node_1(&fresh).is_ok()
            && let Ok(fresh) = fresh.dyn_into::<HtmlCanvasElement>()
        {
            self.observer.disconnect();
            self.observer.observe(&fresh);
            self.element = fresh;
        }
        self.drawn = false;
        let opened = open(engine, slot, self.element.clone());
        self.attached = opened.is_ok();
        opened
    }

    /// Size of the element in device pixels.
    fn pixels(&self, ratio: f64) -> (u32, u32) {
        let pixels = |css: i32| {
            let wanted = (f64::from(css.max(0)) * ratio).round();
            (wanted as u32).min(MAX_PIXELS)
        };
        (
            pixels(self.element.client_width()),
            pixels(self.element.client_height()),
        )
    }
}
