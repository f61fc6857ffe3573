//! What went wrong and what to do about it, as sentences.

use super::texts;

texts! {
    NO_WEBGPU: "This browser does not offer WebGPU here, so the CPU computes and draws. Faster: a current Chrome, Edge, Firefox or Safari, over https or from localhost.", "此浏览器在此处不提供 WebGPU，因此由 CPU 计算和绘制。若要更快：请使用新版 Chrome、Edge、Firefox 或 Safari，并通过 https 或 localhost 打开。";
    NO_ADAPTER: "The browser has WebGPU but found no graphics adapter, so the CPU computes and draws. Faster: switch hardware acceleration on in the browser's settings.", "浏览器支持 WebGPU，但没有找到图形适配器，因此由 CPU 计算和绘制。若要更快：请在浏览器设置中启用硬件加速。";
    NO_ANSWER: "The browser does not answer whether there is a graphics adapter, so the CPU computes and draws until it does.", "浏览器没有回答是否有图形适配器，因此先由 CPU 计算和绘制。";
    NO_CPU: "The engine on the CPU could not be started ({why}), so there is no new picture. Load the page again.", "CPU 引擎未能启动（{why}），因此没有新的图。请重新载入页面。";
    NO_DEVICE: "The graphics adapter refused to start ({why}), so the CPU computes and draws. Closing other heavy pages may help.", "图形适配器拒绝启动（{why}），因此由 CPU 计算和绘制。关闭其他占用较大的页面可能有帮助。";
    DEVICE_LOST: "The graphics device was lost ({why}), so the CPU computes and draws. Nothing you set is lost.", "图形设备已丢失（{why}），因此由 CPU 计算和绘制。您的设置都没有丢失。";
    STALLED: "The graphics device no longer answers, so the CPU computes and draws. Nothing you set is lost.", "图形设备不再响应，因此由 CPU 计算和绘制。您的设置都没有丢失。";
    TOO_LARGE: "This layer needs {wanted} numbers in one buffer and the device allows {allowed}. Choose a shorter text.", "该层需要在一个缓冲区中存放 {wanted} 个数，而设备最多允许 {allowed} 个。请选择更短的文本。";
    EMPTY_CANVAS: "The map has no room to be drawn in. Make the window larger.", "没有空间绘制注意力图。请放大窗口。";
    INVALID: "The graphics device reported an error of this page ({why}), so the CPU computes and draws. Please report it.", "图形设备报告了本页的一个错误（{why}），因此由 CPU 计算和绘制。请反馈此问题。";
    FILE_MISSING: "The file {file} could not be loaded (status {status}). Check the connection, or choose another text.", "无法加载文件 {file}（状态 {status}）。请检查网络连接，或选择其他文本。";
    FILE_NO_ANSWER: "The file {file} could not be loaded: no answer. Check the connection, or choose another text.", "无法加载文件 {file}：没有响应。请检查网络连接，或选择其他文本。";
    LOAD_CANCELLED: "Loading was cancelled, and there is no picture yet. Choose a text to go on.", "已取消载入，尚无图像。请选择文本以继续。";
    FILE_BROKEN: "The file {file} is damaged ({why}). Reload the page; if it stays so, the copy on the server is incomplete.", "文件 {file} 已损坏（{why}）。请重新加载；若仍如此，则服务器上的副本不完整。";
    LINK_WARNINGS: "Some values of the link do not fit and were replaced by their defaults: {list}.", "链接中有些值不合适，已改用默认值：{list}。";
    LINK_NEWER: "This link was made by a newer version of the page (format {version}). What is known of it is shown; reload to get the newer page.", "此链接由更新版本的页面生成（格式 {version}）。已显示可识别的部分；请重新加载以获取新版页面。";
    WORKER: "The background calculator did not start ({why}). Ranks, worked numbers and the sentence are missing; the map is not affected. Reload to try again.", "后台计算未能启动（{why}）。秩、数值明细和说明句将缺失，注意力图不受影响。请重新加载重试。";
    CLIPBOARD: "The browser did not allow copying. Select the text below and copy it by hand.", "浏览器不允许复制。请选中下面的文字手动复制。";
    SHORT_NO_WEBGPU: "no WebGPU in this browser", "此浏览器没有 WebGPU";
    SHORT_NO_ADAPTER: "no graphics adapter", "没有图形适配器";
    SHORT_NO_ANSWER: "the graphics adapter does not answer", "图形适配器没有响应";
    SHORT_NO_CPU: "could not be started", "未能启动";
    SHORT_NO_DEVICE: "the adapter refused to start", "图形适配器拒绝启动";
    SHORT_LOST: "the graphics device was lost", "图形设备已丢失";
    SHORT_STALLED: "the graphics device no longer answers", "图形设备不再响应";
    SHORT_TOO_LARGE: "the text is too long for this device", "文本对此设备而言过长";
    SHORT_NO_ROOM: "no room for the map", "没有空间绘图";
    SHORT_INVALID: "an error of this page", "本页的错误";
}
