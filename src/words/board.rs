//! Words of the map and the strip.

use super::texts;

texts! {
    QUERY_AXIS: "Query — who looks (row)", "查询 — 谁在看（行）";
    KEY_AXIS: "Key — what is looked at (column)", "键 — 看向谁（列）";
    MAP: "Attention map of head {head}: {n} queries (rows) by {m} keys (columns). Arrow keys move from cell to cell, Enter locks, plus and minus zoom.", "第 {head} 头的注意力图：{n} 个查询（行）× {m} 个键（列）。方向键逐格移动，回车锁定，加减号缩放。";
    MAP_ROLE: "attention map", "注意力图";
    WEIGHTS: "Weights A", "权重 A";
    SCORE: "Score r", "分数 r";
    QUANTITY: "What the map shows", "图中显示";
    RANGE: "Colour range", "颜色范围";
    RANGE_AUTO: "of this map", "按本图";
    RANGE_UNIT: "0 – 1", "0 – 1";
    RANGE_UNIT_SIGNED: "±1", "±1";
    MASKED: "masked", "已掩码";
    ZOOM_IN: "Zoom in", "放大";
    ZOOM_OUT: "Zoom out", "缩小";
    ZOOM_FIT: "Show all", "显示全部";
    READOUT: "query {i} “{qi}” → key {j} “{kj}”", "查询 {i}“{qi}”→ 键 {j}“{kj}”";
    READOUT_VALUE: "query {i} “{qi}” → key {j} “{kj}”: A = {a}, r = {r}", "查询 {i}“{qi}”→ 键 {j}“{kj}”：A = {a}，r = {r}";
    READOUT_MASKED: "query {i} “{qi}” → key {j} “{kj}”: masked, A = 0", "查询 {i}“{qi}”→ 键 {j}“{kj}”：已掩码，A = 0";
    READOUT_HINT: "Point at a cell; click to lock it", "将指针移到格子上；点击可锁定";
    HEADS: "All heads", "所有头";
    HEAD_PICK: "Head {head}", "第 {head} 头";
    LEGEND: "Colours from {lo} to {hi}", "颜色从 {lo} 到 {hi}";
    COARSE: "coarse: {share} %", "粗略：{share}%";
    WAITING: "Getting the first picture ready", "正在准备第一幅图";
}
