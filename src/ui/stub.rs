//! Placeholder of the driver's side that the components call; nothing is drawn yet.

/// The canvases of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanvasSlot {
    /// The large map.
    Map,
    /// The strip of heads.
    Strip,
    /// The layer output.
    Output,
}

/// Gives the engine a canvas to draw on.
pub fn attach(_slot: CanvasSlot, _canvas: web_sys::HtmlCanvasElement) {}

/// The canvas has left the page.
pub fn detach(_slot: CanvasSlot) {}

/// Reads the cell of the inspector back from the drawn map.
pub fn read_back_cell() {}

/// Stops the download of a layer; the last one stays.
pub fn cancel_load() {}
