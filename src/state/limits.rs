//! Reports once what a Scene asks for and the layer on screen does not have, like values that do
//! not fit in a link.

use leptos::prelude::*;

use crate::state::AppState;
use crate::state::problem::Problem;
use attnscope_scene::warning::Warning;

/// Reports the limits whenever they change. While a layer is loading they are unknown, and the last
/// report stays.
pub fn tell(app: AppState) {
    let limited = Memo::new(move |_| {
        let sizes = app.sizes()?;
        let (shown, warnings) = app.scene.with(|scene| scene.limited(sizes));
        let with_used = |warning: Warning| {
            let used = shown.value(&warning.key).unwrap_or_default();
            (warning, used)
        };
        Some(warnings.into_iter().map(with_used).collect::<Vec<_>>())
    });
    Effect::new(move || {
        let said = app.limited.get();
        let Some(now) = limited.get().filter(|now| *now != said) else {
            return;
        };
        let problem = (!now.is_empty()).then(|| Problem::LayerLimits(now.clone()));
        let of_a_layer = |problem: &Problem| matches!(problem, Problem::LayerLimits(_));
        app.tell(of_a_layer, problem.into_iter().collect());
        app.limited.set(now);
    });
}
