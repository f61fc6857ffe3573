//! Errors on the device, as [`EngineError`]s.

use std::sync::{Mutex, PoisonError};

use super::adapter_info;
use attnscope_engine::EngineError;

/// Errors that the callbacks of the device reported.
#[derive(Debug, Default)]
pub struct DeviceErrors {
    lost: Mutex<Option<EngineError>>,
    on_loss: Mutex<Option<fn()>>,
    fault: Mutex<Option<EngineError>>,
}

impl DeviceErrors {
    /// Why the device was lost, if it was.
    pub fn lost(&self) -> Option<EngineError> {
        self.lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The first error that the device reported since the last call of
    /// [`DeviceErrors::take_fault`].
    pub fn fault(&self) -> Option<EngineError> {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns that error and clears it.
    pub fn take_fault(&self) -> Option<EngineError> {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Records that the device is lost; the first reason stays.
    pub fn lose(&self, why: String) {
        Self::note(&self.lost, EngineError::DeviceLost(why));
        self.tell();
    }

    /// Records an error that the device does not report itself.
    pub(super) fn fail(&self, what: EngineError) {
        Self::note(&self.fault, what);
        self.tell();
    }

    fn note(place: &Mutex<Option<EngineError>>, what: EngineError) {
        place
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(what);
    }

    fn tell(&self) {
        let tell = *self.on_loss.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = tell {
            tell();
        }
    }

    /// Calls `tell` when the device is lost or reports an error.
    pub fn on_loss(&self, tell: fn()) {
        *self.on_loss.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell);
    }

    /// Records what the device reported. Distinguishes an error of the page from a device that is
    /// out of memory or fails inside.
    pub(super) fn report(&self, error: &wgpu::Error) {
        let what = match error {
            wgpu::Error::Validation { .. } => {
                let text = error.to_string();
                // "Buffer with '…' label is invalid": follows an earlier error of the buffer
                // itself, or a lost device, which Firefox reports later.
                if text.contains("label is invalid") && self.fault().is_none() {
                    EngineError::DeviceLost(adapter_info::first_line(&text))
                } else {
                    EngineError::Invalid(text)
                }
            }
            _ => EngineError::DeviceLost("out of memory, or an error inside of it".to_owned()),
        };
        Self::note(&self.fault, what);
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validation(text: &str) -> wgpu::Error {
        wgpu::Error::Validation {
            source: text.into(),
            description: text.to_owned(),
        }
    }

    #[test]
    fn an_object_that_is_invalid_without_an_error_before_is_of_a_lost_device() {
        let invalid = validation("Buffer with 'Q' label is invalid");
        let errors = DeviceErrors::default();
        errors.report(&invalid);
        assert!(matches!(errors.fault(), Some(EngineError::DeviceLost(_))));

        let errors = DeviceErrors::default();
        let shader = validation("Shader validation error: Function [1] 'f' is invalid");
        errors.report(&shader);
        errors.report(&invalid);
        assert!(
            matches!(errors.take_fault(), Some(EngineError::Invalid(text)) if text.contains("'f'"))
        );
        assert_eq!(errors.fault(), None);
    }
}
