//! Words of the header, the status line and the embedded page.

use super::{Text, texts};
use crate::scene::{Pattern, Text as Passage};

texts! {
    TITLE: "attnscope — attention that can be seen and handled", "attnscope — 看得见、摸得着的注意力";
    SKIP: "Skip to the map", "跳到注意力图";
    SOURCE: "Text", "文本";
    GROUP_REAL: "MiniLM, a real model", "MiniLM（真实模型）";
    GROUP_SYNTHETIC: "Made-up numbers", "合成数据";
    SENTENCE: "Sentence, 24 tokens", "句子，24 词元";
    PARAGRAPH: "Paragraph, 120 tokens", "段落，120 词元";
    PAGE: "Page, 512 tokens", "整页，512 词元";
    RANDOM: "Random", "随机";
    REPEATED: "Repeated tokens", "重复词元";
    LOCAL: "Neighbours alike", "局部相似";
    LONG_RANGE: "Far apart alike", "远程相似";
    LAYER: "Layer", "层";
    HEAD: "Head", "头";
    LENGTH: "Length L", "长度 L";
    SEED: "Seed", "种子";
    SCENES: "Starter scenes", "入门场景";
    SHARE: "Share", "分享";
    COPY_LINK: "Copy link", "复制链接";
    COPY_EMBED: "Copy embed code", "复制嵌入代码";
    COPIED: "Copied", "已复制";
    SHARE_HINT: "The link holds everything you see here.", "链接包含此处的全部设置。";
    LANGUAGE: "中文", "EN";
    LANGUAGE_NAME: "中文 · 切换到简体中文", "EN · Switch to English";
    THEME_SYSTEM: "Theme: as the system", "主题：跟随系统";
    THEME_LIGHT: "Theme: light", "主题：浅色";
    THEME_DARK: "Theme: dark", "主题：深色";
    CANCEL: "Cancel", "取消";
    LOADED_OF: "{done} of {total} kB", "{done} / {total} kB";
    LOADED: "{done} kB", "{done} kB";
    DISMISS: "Dismiss", "关闭";
    ENGINE_PROBING: "Starting the GPU", "正在启动 GPU";
    ENGINE_READY: "{backend} · {adapter}", "{backend} · {adapter}";
    ENGINE_SOFTWARE: "{backend} · {adapter} (software)", "{backend} · {adapter}（软件模拟）";
    ENGINE_CPU: "CPU · {why}", "CPU · {why}";
    ENGINE_CPU_LATER: "CPU · {why}; it is tried again within 2 minutes", "CPU · {why}；2 分钟内会再次尝试";
    ENGINE_CPU_GIVEN_UP: "CPU · {why}; it is no longer tried by itself", "CPU · {why}；不再自动重试";
    ENGINE_RECOVERING: "CPU · asking for the graphics device again", "CPU · 正在重新请求图形设备";
    GPU_AGAIN: "Try the GPU", "重试 GPU";
    CPU_TIME: "CPU time", "CPU 用时";
    GPU_TIME: "GPU time", "GPU 用时";
    GPU_TIME_NONE: "not measurable here", "此处无法测量";
    KEYS_PER_ROW: "keys per row", "每行可见键";
    FULL_PAGE: "Open in attnscope", "在 attnscope 中打开";
    SELF_CHECK: "Self-check: what holds on this device", "自检：在本设备上成立的事实";
    CLOSE: "Close", "关闭";
    CONTROLS: "Controls", "控制";
    BOARD: "Map", "注意力图";
    DETAILS: "Details", "详情";
    STATUS: "State of the engine", "引擎状态";
}

/// The name of a shipped text.
pub const fn passage(text: Passage) -> Text {
    match text {
        Passage::Sentence => SENTENCE,
        Passage::Paragraph => PARAGRAPH,
        Passage::Page => PAGE,
    }
}

/// The name of a synthetic pattern.
pub const fn pattern(pattern: Pattern) -> Text {
    match pattern {
        Pattern::Random => RANDOM,
        Pattern::Repeated => REPEATED,
        Pattern::Local => LOCAL,
        Pattern::LongRange => LONG_RANGE,
    }
}
