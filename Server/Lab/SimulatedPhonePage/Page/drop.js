// Files that are dropped anywhere on the page: an .apns file becomes a push by hand, anything else the content of a notification.
import { view } from "./state.js";
import { showTab } from "./panel.js";
import { onShowPush, openFile } from "./handpush.js";
import { onShowRich, takeContent } from "./rich.js";

export function takeDroppedFiles() {
  onShowPush(() => show("push"));
  onShowRich(() => show("rich"));
  const root = document.documentElement;
  const carriesFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    root.dataset.dropping = "true";
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) delete root.dataset.dropping;
  });
  document.addEventListener("drop", (event) => {
    delete root.dataset.dropping;
    const file = carriesFiles(event) && event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    if (/\.(apns|json)$/i.test(file.name)) openFile(file);
    else takeContent(file);
  });
}

function show(way) {
  view.way = way;
  showTab("compose");
}
