//! Scene ↔ JSON, for programs and files. Reading is total, as for links.

use serde_json::{Map, Value};

use super::Scene;
use super::permalink::{MAX_WARNINGS, Parsed, VERSION};
use super::warning::{Reason, Warning};

/// So many bytes of JSON are read.
pub const MAX_JSON_BYTES: usize = 65_536;

impl Scene {
    /// The Scene as JSON, every field written.
    pub fn to_json(&self) -> String {
        // Plain data without maps of foreign keys: there is nothing that could fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The Scene of a JSON text. Total: members that are unknown or of the wrong kind become
    /// warnings (keys are paths such as `window.size`), the others count.
    pub fn from_json(text: &str) -> Parsed {
        let mut warnings = Vec::new();
        let value = if text.len() > MAX_JSON_BYTES {
            warnings.push(Warning::new("", text, Reason::TooLong));
            None
        } else {
            let object = serde_json::from_str::<Map<String, Value>>(text).ok();
            if object.is_none() {
                warnings.push(Warning::new("", text, Reason::NotJson));
            }
            object.map(Value::Object)
        };
        let mut scene = Self::default();
        if let Some(value) = value {
            merge(&mut scene, &mut Vec::new(), &value, &mut warnings);
        }
        let (scene, moved) = scene.sanitize();
        warnings.extend(moved);
        warnings.truncate(MAX_WARNINGS);
        Parsed {
            scene,
            warnings,
            version: VERSION,
        }
    }
}

/// Puts `value` at `path` of the Scene: whole if that is a Scene, else member by member.
fn merge<'a>(
    scene: &mut Scene,
    path: &mut Vec<&'a str>,
    value: &'a Value,
    warnings: &mut Vec<Warning>,
) {
    // Every warning beyond the limit would be thrown away; a hostile text costs no more.
    if warnings.len() >= MAX_WARNINGS {
        return;
    }
    if !path.is_empty()
        && let Some(next) = with(scene, path, value)
    {
        *scene = next;
        return;
    }
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                path.push(name);
                merge(scene, path, member, warnings);
                path.pop();
            }
        }
        // At the root only, where it is the default Scene.
        Value::Object(_) if path.is_empty() => {}
        _ => {
            let reason = if knows(scene, path) {
                Reason::Malformed
            } else {
                Reason::UnknownKey
            };
            warnings.push(Warning::new(&path.join("."), &value.to_string(), reason));
        }
    }
}

/// The Scene with `value` in the place of what is at `path`, if that is a Scene in which the value
/// has arrived: a member that serde passes over is no success.
fn with(scene: &Scene, path: &[&str], value: &Value) -> Option<Scene> {
    let mut tree = serde_json::to_value(scene).ok()?;
    let mut place = &mut tree;
    for name in path {
        place = place.as_object_mut()?.get_mut(*name)?;
    }
    *place = value.clone();
    let next: Scene = serde_json::from_value(tree).ok()?;
    let arrived = serde_json::to_value(&next).ok()?;
    let arrived = path.iter().try_fold(&arrived, |at, name| at.get(name))?;
    covers(arrived, value).then_some(next)
}

/// Whether every member named in `wanted` is there in `got`.
fn covers(got: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(members) => members.iter().all(|(name, member)| {
            got.get(name)
                .is_some_and(|got_member| covers(got_member, member))
        }),
        _ => true,
    }
}

/// Whether a Scene has something at `path`.
fn knows(scene: &Scene, path: &[&str]) -> bool {
    serde_json::to_value(scene)
        .ok()
        .and_then(|tree| {
            path.iter()
                .try_fold(&tree, |at, name| at.get(name))
                .map(|_| ())
        })
        .is_some()
}
