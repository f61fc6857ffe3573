//! What the layer on screen has less of than was asked for is said once, like what does not fit in a
//! link.

use leptos::prelude::*;

use crate::state::AppState;
use crate::state::problem::Problem;
use attnscope_scene::warning::Warning;

/// Says what is limited whenever that changes. While a layer is on its way nothing is known of it,
/// and what was said stays.
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
