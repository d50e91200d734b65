// Makes the page from /openapi.json or, below /docs/api/hub, from /openapi-hub.json. Everything that the description says is shown as
// text and never as HTML.

/** Whether this page is about the hub protocol. Its calls are signed with a key that does not belong into a page, so none is tried here. */
const isHub = location.pathname === "/docs/api/hub";
const source = isHub ? "/openapi-hub" : "/openapi";

/** The description, once it is read. */
let description;

/** An element with attributes and children; strings become text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
  return element;
}

/** Follows `$ref` within the document. What stands beside it counts too, as OpenAPI 3.1 has it. */
function resolve(value) {
  if (!value || !value.$ref) return value ?? {};
  const { $ref, ...beside } = value;
  const steps = $ref.slice(2).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { ...resolve(steps.reduce((place, step) => place?.[step], description)), ...beside };
}

const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** The few marks that the descriptions use: paragraphs, `code` and **bold**. */
function prose(text) {
  return (text ?? "").trim().split(/\n\s*\n/).filter(Boolean).map((paragraph) =>
    make("p", {}, inline(paragraph.replaceAll("\n", " "))));
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return make("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return make("strong", {}, part.slice(2, -2));
    return part;
  });
}

// Schemas

/** The type and the bounds of a schema in a few words. */
function words(schema) {
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  const choices = (schema.enum ?? []).filter((value) => value !== null);
  const range = (low, high, unit) => {
    if (low === undefined && high === undefined) return "";
    if (high === undefined) return `at least ${low}${unit}`;
    return low === undefined ? `at most ${high}${unit}` : `${low} to ${high}${unit}`;
  };
  const bounds = [
    range(schema.minimum, schema.maximum, ""), range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " entries"),
    ...[["pattern", "matches"], ["const", "is"], ["default", "default"]].filter(([key]) => schema[key] !== undefined)
      .map(([key, name]) => `${name} ${schema[key]}`),
  ];
  return [types.join(" or "), choices.length ? `one of ${choices.join(", ")}` : "", ...bounds].filter(Boolean).join("; ");
}

/** A schema as a nested list. `depth` ends what would not end. */
function outline(schema, depth = 0) {
  const shape = resolve(schema);
  if (depth > 6) return [];
  // Beside fields, the branches only say which of them have to be there.
  const branches = shape.properties ? undefined : shape.oneOf ?? shape.anyOf;
  if (branches) {
    const real = branches.map(resolve).filter((branch) => branch.type !== "null");
    if (real.length === 1) return outline({ ...real[0], description: undefined }, depth);
    return make("ul", { class: "schema" }, real.map((branch) =>
      make("li", {}, make("span", { class: "quiet" }, words(branch)), " ", inline(branch.description ?? ""), outline(branch, depth + 1))));
  }
  if (shape.items) return outline(shape.items, depth + 1);
  if (!shape.properties) return [];
  const required = new Set(shape.required ?? []);
  return make("ul", { class: "schema" }, Object.entries(shape.properties).map(([name, property]) => {
    const inner = resolve(property);
    const single = inner.oneOf?.map(resolve).find((branch) => branch.type !== "null") ?? {};
    const rule = words(inner.oneOf ? { ...single, ...inner, oneOf: undefined } : inner);
    return make("li", {},
      make("code", {}, name), required.has(name) ? " (required) " : " ", make("span", { class: "quiet" }, rule), " ",
      inline((inner.description ?? single.description ?? "").trim().replaceAll("\n", " ")), outline(inner, depth + 1));
  }));
}

function examples(content) {
  if (content.examples) return Object.entries(content.examples).map(([name, example]) => [example.summary ?? name, resolve(example).value]);
  return content.example === undefined ? [] : [["Example", content.example]];
}

function contents(map) {
  return Object.entries(map ?? {}).map(([type, content]) => make("div", {},
    make("p", {}, make("code", {}, type)), outline(content.schema),
    examples(content).map(([name, value]) => [make("p", { class: "quiet" }, name), make("pre", {}, pretty(value))])));
}

// One operation

function parameterTable(parameters) {
  if (!parameters.length) return [];
  return [make("h4", {}, "Parameters"), make("div", { class: "scrolls" }, make("table", {},
    make("thead", {}, make("tr", {}, ["Name", "In", "Values", "Meaning"].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, parameters.map((parameter) => {
      const schema = resolve(parameter.schema);
      return make("tr", {},
        make("td", {}, make("code", {}, parameter.name), parameter.required ? " (required)" : ""), make("td", {}, parameter.in),
        make("td", {}, words(schema)), make("td", {}, inline((parameter.description ?? schema.description ?? "").trim())));
    }))))];
}

function responseList(operation) {
  return [make("h4", {}, "Answers"), Object.entries(operation.responses).map(([status, reference]) => {
    const response = resolve(reference);
    const headers = Object.keys(response.headers ?? {});
    return make("details", {},
      make("summary", {}, make("code", { class: status < 400 ? "good" : "bad" }, status), " ", inline(response.description.trim())),
      headers.length ? make("p", { class: "quiet" }, `Headers: ${headers.join(", ")}`) : [], contents(response.content),
      Object.entries(response.links ?? {}).map(([name, link]) =>
        make("p", {}, `${name}: `, make("a", { href: `#${link.operationId}` }, link.operationId), ` ${link.description ?? ""}`)));
  })];
}

function securityWords(operation) {
  const schemes = (operation.security ?? description.security ?? []).flatMap((entry) => Object.entries(entry));
  const known = {
    basic: "user and password", installation: "installation credential", signInToken: "sign-in token", serviceKey: "service key",
    ticket: "ticket", consoleSession: "session of the console",
  };
  const rights = schemes.flatMap(([, names]) => names);
  if (rights.length) return `Signed with a key that has the right ${rights.join(" or ")}`;
  return `Signed with: ${schemes.map(([name]) => known[name] ?? name).join(", ")}`;
}

// Calls

const field = (id) => document.getElementById(id);

/** `Authorization` for what is entered; absent when nothing is. */
function authorization() {
  const key = field("key").value.trim();
  if (key) return `Bearer ${key}`;
  if (!field("user").value) return undefined;
  const bytes = new TextEncoder().encode(`${field("user").value}:${field("password").value}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

function showCaller() {
  const key = field("key").value.trim();
  const name = field("user").value;
  field("caller-state").textContent = key ? "Calls are made with the key." : name ? `Calls are made as ${name}.` : "Calls are made without credentials.";
}

/** What the form of an operation describes: method, address and body, without credentials. */
function readForm(call, form) {
  let path = call.path;
  const query = [];
  const headers = {};
  for (const parameter of call.parameters) {
    const value = form.elements[`parameter-${parameter.name}`].value;
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value === "") continue;
    else if (parameter.in === "query") query.push(`${parameter.name}=${encodeURIComponent(value)}`);
    else headers[parameter.name] = value;
  }
  let body;
  const type = form.elements.type?.value;
  if (type === "application/json" && form.elements.body.value.trim()) {
    body = form.elements.body.value;
    headers["Content-Type"] = type;
  } else if (type === "multipart/form-data") {
    body = new FormData();
    body.append("notification", new Blob([form.elements.body.value], { type: "application/json" }));
    const file = form.elements.file.files[0];
    if (file) body.append("content", file, file.name);
  } else if (type === "file") {
    body = form.elements.file.files[0];
    // A browser does not know the type of every file, so the type goes first that is the only one of an operation.
    headers["Content-Type"] = call.fileType ?? (body?.type || "application/octet-stream");
  }
  return { path: path + (query.length ? `?${query.join("&")}` : ""), headers, body, type };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The call as a line for a shell. The secret is a variable of the shell, so that the line can be passed on. */
function curlLine(call, form) {
  const request = readForm(call, form);
  const parts = ["curl", "-X", call.method.toUpperCase(), quoted(location.origin + request.path)];
  const useKey = field("key").value.trim() || !field("user").value;
  parts.push(useKey ? '-H "Authorization: Bearer $CLARION_KEY"' : '-u "$CLARION_USER:$CLARION_PASSWORD"');
  for (const [name, value] of Object.entries(request.headers)) parts.push("-H", quoted(`${name}: ${value}`));
  if (request.type === "multipart/form-data") {
    parts.push("-F", quoted(`notification=${form.elements.body.value.replace(/\s*\n\s*/g, " ")};type=application/json`), "-F 'content=@FILE'");
  } else if (request.type === "file") parts.push("--data-binary @FILE");
  else if (request.body) parts.push("--data", quoted(request.body));
  return parts.join(" ");
}

/** The most of an answer that is shown. */
const shownBytes = 65536;

async function perform(call, form, answer) {
  const request = readForm(call, form);
  const credential = authorization();
  if (credential) request.headers.Authorization = credential;
  answer.replaceChildren(make("p", {}, "Waiting…"));
  try {
    const started = performance.now();
    // Without the browser's own credentials: what is entered above is what signs the call.
    const response = await fetch(request.path, {
      method: call.method.toUpperCase(), headers: request.headers, body: request.body, credentials: "omit", cache: "no-store",
    });
    const blob = await response.blob();
    const text = await blob.slice(0, shownBytes).text();
    const isText = /json|text|yaml/.test(response.headers.get("Content-Type") ?? "");
    answer.replaceChildren(
      make("p", { class: response.ok ? "good" : "bad" }, `${response.status} ${response.statusText}, ${Math.round(performance.now() - started)} ms`),
      make("pre", {}, [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n")),
      blob.size === 0 ? make("p", {}, "No body.") : make("pre", {}, isText ? shown(text, blob.size) : `${blob.size} bytes that are no text`));
  } catch (error) {
    answer.replaceChildren(make("p", { class: "bad" }, `The call was not made or not answered: ${error.message}`));
  }
}

function shown(text, size) {
  if (size > shownBytes) return `${text}\n… ${size - shownBytes} more bytes`;
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function parameterField(parameter) {
  const schema = resolve(parameter.schema);
  const label = `${parameter.name}${parameter.required ? " (required)" : ""}`;
  const name = `parameter-${parameter.name}`;
  const choices = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : undefined);
  if (choices) return make("label", {}, label, make("select", { name }, ["", ...choices].map((value) => make("option", { value }, value || "not given"))));
  return make("label", {}, label, make("input", { name, spellcheck: "false", autocomplete: "off", required: parameter.required, placeholder: schema.examples?.[0] ?? parameter.example }));
}

function bodyFields(operation) {
  const content = resolve(operation.requestBody).content;
  if (!content) return [];
  const types = Object.keys(content);
  const isJSON = types.includes("application/json");
  const choices = isJSON ? types.filter((type) => /json|multipart/.test(type)) : ["file"];
  const sample = isJSON ? examples(content["application/json"])[0]?.[1] : undefined;
  return [
    make("p", { class: "fields" },
      make("label", {}, "Body", make("select", { name: "type" }, choices.map((type) => make("option", { value: type }, type)))),
      choices.some((type) => type !== "application/json") ? make("label", {}, "File", make("input", { name: "file", type: "file" })) : []),
    isJSON ? make("label", {}, "JSON", make("textarea", { name: "body", spellcheck: "false" }, sample === undefined ? "" : pretty(sample))) : [],
  ];
}

function tryIt(call) {
  const answer = make("div", { role: "status" });
  const line = make("pre", {});
  const isDangerous = call.method === "delete";
  const form = make("form", {},
    make("p", { class: "fields" }, call.parameters.map(parameterField)), bodyFields(call.operation),
    make("p", {}, make("button", { class: isDangerous ? "dangerous" : undefined }, `Send ${call.method.toUpperCase()}`)));
  const renew = () => { line.textContent = curlLine(call, form); };
  form.addEventListener("input", renew);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    perform(call, form, answer);
  });
  renew();
  return { elements: [make("h4", {}, "In a shell"), line, make("h4", {}, "Try it"), form, answer], renew };
}

/** Renews the lines for the shell when the caller changes. */
const renewals = [];

function operationElement(path, shared, method, operation) {
  const parameters = [...(shared ?? []), ...(operation.parameters ?? [])].map(resolve);
  const types = Object.keys(resolve(operation.requestBody).content ?? {});
  const call = { path, method, operation, parameters, fileType: types.length === 1 ? types[0] : undefined };
  const place = make("div", {});
  const element = make("details", { class: "operation", id: operation.operationId },
    make("summary", {}, make("span", { class: "method" }, method.toUpperCase()), " ", make("span", { class: "path" }, path), " ",
      make("span", { class: "quiet" }, operation.summary)),
    place);
  element.dataset.words = `${method} ${path} ${operation.summary} ${operation.description ?? ""} ${Object.keys(operation.responses).join(" ")}`.toLowerCase();
  // Filled when it is opened: most are not.
  element.addEventListener("toggle", () => {
    if (!element.open || place.hasChildNodes()) return;
    const body = resolve(operation.requestBody);
    const trial = isHub ? { elements: [] } : tryIt(call);
    if (trial.renew) renewals.push(trial.renew);
    const more = operation.externalDocs ? make("p", {}, make("a", { href: operation.externalDocs.url }, "What Microsoft says of it")) : [];
    const about = body.content ? [make("h4", {}, "Body"), prose(body.description), contents(body.content)] : [];
    place.append(...prose(operation.description), make("p", { class: "quiet" }, securityWords(operation)),
      ...[more, parameterTable(parameters), about, responseList(operation), trial.elements].flat(Infinity));
  });
  return element;
}

// The page

function sections() {
  const all = Object.entries(description.paths).flatMap(([path, item]) =>
    ["get", "post", "put", "patch", "delete"].filter((method) => item[method]).map((method) => [item[method].tags?.[0], operationElement(path, item.parameters, method, item[method])]));
  return description.tags.map((tag) => make("section", { "aria-label": tag.name },
    make("h2", {}, tag.name), prose(tag.description), all.filter(([name]) => name === tag.name).map(([, element]) => element)));
}

function find(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const element of document.querySelectorAll("details.operation")) element.hidden = !wanted.every((word) => element.dataset.words.includes(word));
  for (const section of document.querySelectorAll("#operations section")) section.hidden = !section.querySelector("details.operation:not([hidden])");
}

function openFromAddress() {
  const element = field(location.hash.slice(1));
  if (!element?.matches("details.operation")) return;
  element.open = true;
  element.scrollIntoView();
}

async function begin() {
  field("caller").hidden = isHub;
  for (const form of ["json", "yaml"]) {
    field(form).href = `${source}.${form}`;
    field(form).textContent = `${source.slice(1)}.${form}`;
  }
  try {
    const response = await fetch(`${source}.json`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    description = await response.json();
  } catch (error) {
    field("operations").replaceChildren(make("p", { class: "bad" }, `The description cannot be read: ${error.message}`));
    return;
  }
  const scheme = isHub ? description.components.securitySchemes.sharedAccessSignature.description : "";
  field("about").replaceChildren(...prose(description.info.description), ...prose(scheme));
  field("operations").replaceChildren(...sections());
  for (const id of ["key", "user", "password"]) {
    field(id).addEventListener("input", () => {
      showCaller();
      for (const renew of renewals) renew();
    });
  }
  field("find").addEventListener("input", (event) => find(event.target.value));
  addEventListener("hashchange", openFromAddress);
  showCaller();
  openFromAddress();
}

begin();
