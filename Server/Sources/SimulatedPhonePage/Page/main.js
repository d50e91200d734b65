// The page: one view per region, drawn again after every change.
import { render } from "./dom.js";
import { onChange, changed, state } from "./state.js";
import { start } from "./connection.js";
import { topBar, applyTheme } from "./top.js";
import { guide } from "./guide.js";
import { controls } from "./controls.js";
import { about } from "./about.js";
import { story } from "./story.js";
import { phone } from "./phone.js";
import { fitPhone } from "./fit.js";

const region = (id) => document.getElementById(id);

applyTheme();
onChange(() => {
  render(region("top"), topBar());
  render(region("guide"), guide());
  render(region("phone"), phone());
  render(region("controls"), controls());
  render(region("story"), story());
  document.title = state.snapshot?.unread ? `(${state.snapshot.unread}) Clarion · simulated iPhone` : "Clarion · simulated iPhone";
});
render(region("about"), about());
fitPhone(region("stage"), region("phone"));
changed();
start();

// The clock on the phone, and "2m ago".
setInterval(changed, 5000);
