// The page: one view per region, drawn again after every change.
import { render } from "./dom.js";
import { onChange, changed, isSideBySide, state, view } from "./state.js";
import { start } from "./connection.js";
import { topBar, applyTheme } from "./top.js";
import { guide } from "./guide.js";
import { controls } from "./controls.js";
import { browserCard, resumeBrowser } from "./browser.js";
import { about } from "./about.js";
import { panel } from "./panel.js";
import { footBar } from "./foot.js";
import { stage } from "./stage.js";
import { fitPhones } from "./fit.js";
import { takeDroppedFiles } from "./drop.js";
import { announce } from "./announce.js";
import { followFocus, watchFocus } from "./focus.js";

const region = (id) => document.getElementById(id);
const NAME = "Clarion · simulated phones";

applyTheme();
onChange(() => {
  const root = document.documentElement;
  Object.assign(root.dataset, {
    layout: isSideBySide() ? "all" : "one", tab: view.tab, pane: view.pane, alone: String(state.alone),
    tools: String(state.tools === true),
  });
  render(region("top"), topBar());
  render(region("guide"), guide());
  render(region("phone"), stage());
  render(region("controls"), controls());
  render(region("browser"), browserCard());
  render(region("panel"), panel());
  render(region("foot"), footBar());
  render(region("announcer"), announce());
  followFocus();
  const unread = state.selected?.unread;
  document.title = unread ? `(${unread}) ${NAME}` : NAME;
});
render(region("about"), about());
fitPhones(region("phone"));
takeDroppedFiles();
watchFocus();
changed();
start();
resumeBrowser();

// The clock on the phones, and "2m ago".
setInterval(changed, 5000);
