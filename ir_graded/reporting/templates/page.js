"use strict";
// Draws the views of the page from the compressed data in it. One state (runs A and B, measure, topic, pinned
// runs) is shared by all views and kept in the address, so that every picture can be linked.
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const D = JSON.parse(await new Response(unpacked).text());

  // ---------------------------------------------------------------- elements and numbers

  const svgTags = new Set(["svg", "g", "pattern", "rect", "line", "path", "circle", "text"]);
  function el(tag, props = {}, ...children) {
    const made = svgTags.has(tag)
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) {
        made.setAttribute(name, value === true ? "" : value);
      }
    }
    made.append(...children.flat(Infinity).filter((child) => child || child === 0));
    return made;
  }
  const byId = (id) => document.getElementById(id);
  const fill = (id, ...children) => byId(id).replaceChildren(...children.flat(Infinity).filter(Boolean));

  const R = D.runs.length;
  const T = D.topics.length;
  const M = D.measures.length;
  const all = (n) => [...Array(n).keys()];
  const minus = (text) => text.replace("-", "\u2212");
  const known = (x) => x !== null && x !== undefined;
  // Adding 0 makes 0 of -0.
  const fixed = (x, digits = 3) => (known(x) ? minus(String((Number(x.toFixed(digits)) + 0).toFixed(digits))) : "\u2013");
  const signed = (x, digits = 3) => (x > 0 ? "+" : "") + fixed(x, digits);
  const percent = (x) => (known(x) ? `${Math.round(100 * x)} %` : "\u2013");
  const tick = (x) => minus(String(Number(x.toPrecision(3)))).replace(/^(\u2212?)0\./, "$1.");
  const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const topicName = (t) => (D.queries && D.queries[t] ? `${D.topics[t]} ${D.queries[t]}` : D.topics[t]);
  const order = (values) => all(values.length).sort((a, b) => values[b] - values[a] || a - b);
  const ranks = D.mean.map((values) => {
    const place = [];
    order(values).forEach((run, at, runs) => {
      place[run] = at && values[run] === values[runs[at - 1]] ? place[runs[at - 1]] : at + 1;
    });
    return place;
  });
  function quantile(values, q) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.round(q * (sorted.length - 1))];
  }
  // Round numbers that divide a range.
  function ticks(low, high, most = 5) {
    const rough = (high - low) / most || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
    const found = [];
    // Products and 12 digits, since sums would not reach 0 exactly.
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) found.push(Number((n * step).toPrecision(12)) + 0);
    return found;
  }

  // Two or three round numbers in a range, as labels of a narrow axis.
  function fewTicks(low, high) {
    let found = [];
    for (let most = 3; found.length < 2 && most < 50; most += 1) found = ticks(low, high, most);
    return found.length > 3 ? found.filter((_, at) => at % Math.ceil(found.length / 3) === 0) : found;
  }

  // ---------------------------------------------------------------- state

  const best = order(D.mean[0]);
  const S = {
    view: "runs", a: best[0], b: known(D.baseline) && D.baseline !== best[0] ? D.baseline : best[1] ?? best[0],
    m: 0, t: 0, sort: "m0", up: false, filter: "", hidden: new Set(["rbo"]), pins: new Set(), onlyPins: false,
    roomy: false, open: new Set(), row: best[0], median: false, topics: "mean", find: "", from: M > 1 ? 1 : 0, to: 0,
  };
  const views = ["runs", "compare", "topics", "measures", "topic", "unjudged", "computed"].filter(byId);
  function restore() {
    const [view, query] = location.hash.slice(1).split("?");
    S.view = views.includes(view) ? view : "runs";
    const given = new URLSearchParams(query ?? "");
    const place = (name, values, before) => {
      const at = values.indexOf(given.get(name));
      return at < 0 ? before : at;
    };
    S.a = place("a", D.runs, S.a);
    S.b = place("b", D.runs, S.b);
    S.m = place("m", D.measures, S.m);
    S.t = place("t", D.topics, S.t);
    for (const name of given.getAll("pin")) if (D.runs.includes(name)) S.pins.add(D.runs.indexOf(name));
  }
  function keep() {
    const kept = new URLSearchParams({ a: D.runs[S.a], b: D.runs[S.b], m: D.measures[S.m], t: D.topics[S.t] });
    for (const run of S.pins) kept.append("pin", D.runs[run]);
    // Views and topics are steps that the browser can go back from.
    const isStep = S.view !== shownBefore.view || S.t !== shownBefore.t;
    history[isStep ? "pushState" : "replaceState"](null, "", `#${S.view}?${kept}`);
    shownBefore = { view: S.view, t: S.t };
  }
  let shownBefore = {};
  function set(changes) {
    Object.assign(S, changes);
    keep();
    draw();
  }
  let printing = false;
  const say = (text) => (byId("said").textContent = text);

  // ---------------------------------------------------------------- parts that several views use

  const tip = el("div", { id: "tip", hidden: true });
  document.body.append(tip);
  function showTip(event, ...lines) {
    tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 6);
    const top = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }
  const hideTip = () => (tip.hidden = true);
  const tipped = (...lines) => ({ onpointermove: (event) => showTip(event, ...lines), onpointerleave: hideTip });
  const openTopic = (t) => set({ t, view: "topic" });
  const narrow = () => innerWidth < 760 && !printing;
  // A picture with a name for screen readers; lists and tables beside it have the same numbers.
  const picture = (width, height, label, ...children) =>
    el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
  const label = (x, y, text, props = {}) => el("text", { x, y, ...props }, text);
  const button = (text, action, props = {}) => el("button", { type: "button", onclick: action, ...props }, text);
  const choice = (options, at, action, name) => el(
    "select", { "aria-label": name, onchange: (event) => action(event.target.selectedIndex) },
    options.map((text, index) => el("option", { selected: index === at }, text)),
  );
  const facts = (...pairs) => el("dl", { class: "facts" }, pairs.filter(Boolean).map(
    ([name, ...values]) => el("div", {}, el("dt", {}, name), el("dd", {}, ...values)),
  ));
  const runName = (run) => el("span", { class: run === S.a ? "run of-a" : run === S.b ? "run of-b" : "run" }, D.runs[run]);
  const link = (text, action) => button(text, action, { class: "link" });

  // The verdict on two runs is that of the leaderboard where one is the baseline, else that of the paired t interval
  // of their mean difference, as meta.differences(test="t") has it for one pair.
  function compared(m, a, b) {
    const each = D.topics.map((_, t) => Number((D.scores[m][a][t] - D.scores[m][b][t]).toFixed(12)));
    const middle = D.weights
      ? each.reduce((sum, x, t) => sum + D.weights[t] * x, 0) / D.weights.reduce((sum, w) => sum + w, 0)
      : mean(each);
    // The difference of geometric means, which is not tested.
    if (D.geometric[m]) return { each, mean: D.mean[m][a] - D.mean[m][b], low: null, high: null, verdict: "" };
    const test = tested(m, a, b);
    if (!known(D.t)) return { each, mean: middle, low: null, high: null, verdict: "", ...test };
    const spread = Math.sqrt(each.reduce((sum, x) => sum + (x - middle) ** 2, 0) / (T - 1) / T);
    const [low, high] = [middle - D.t * spread, middle + D.t * spread];
    const verdict = low > 0 ? "better" : high < 0 ? "worse" : "open";
    return { each, mean: middle, low, high, verdict, ...test };
  }
  function tested(m, a, b) {
    if (!D.sign || a === b || (a !== D.baseline && b !== D.baseline)) return {};
    const run = a === D.baseline ? b : a;
    const sign = (run === a ? 1 : -1) * D.sign[m][run];
    return { verdict: sign > 0 ? "better" : sign < 0 ? "worse" : "open", p: D.p[m][run] };
  }

  // ---------------------------------------------------------------- head

  function drawHead() {
    for (const one of document.querySelectorAll("#tabs a")) {
      const here = one.hash.slice(1).split("?")[0] === S.view;
      if (here) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    for (const view of views) byId(view).hidden = view !== S.view && !printing;
    const run = (which, at) => {
      const input = el("input", {
        list: "names", value: D.runs[at], "aria-label": `Run ${which.toUpperCase()}`, autocomplete: "off",
        onchange: (event) => {
          // Part of a name chooses the best run that has it.
          const typed = event.target.value.trim();
          const exact = D.runs.indexOf(typed);
          const found = exact >= 0 || !typed ? exact : best.find((one) => D.runs[one].toLowerCase().includes(typed.toLowerCase())) ?? -1;
          if (found < 0) {
            say(`No run has ${typed} in its name`);
            event.target.value = D.runs[S[which]];
          } else set({ [which]: found });
        },
        onfocus: (event) => event.target.select(),
      });
      return el("label", { class: "pick" }, el("b", { class: `badge ${which}` }, which.toUpperCase()), input);
    };
    const swap = button("\u21c4", () => set({ a: S.b, b: S.a }), { "aria-label": "Swap A and B", title: "Swap A and B" });
    fill(
      "choices", R > 1 && [run("a", S.a), run("b", S.b), swap],
      choice(D.measures, S.m, (m) => set({ m, sort: `m${m}` }), "Measure"),
      choice(D.topics.map((topic) => `topic ${topic}`), S.t, (t) => set({ t }), "Topic"),
    );
  }

  // Sentences that answer the usual questions.
  function drawAnswers() {
    const answers = [];
    if (D.ranks) {
      const first = best.filter((run) => D.ranks.first[run]);
      const names = first.slice(0, 4).flatMap((run, at) => [at ? ", " : "", link(D.runs[run], () => openRun(run))]);
      const more = first.length > 4 ? ` and ${first.length - 4} more` : "";
      const words = first.length > 1 ? `${more} cannot be told apart (${D.level})` : ` alone (${D.level})`;
      answers.push([`First by ${D.measures[0]}`, ...names, words]);
    }
    if (M > 1 && R > 2) {
      const pairs = all(M).flatMap((a) => all(a).map((b) => [D.tau[a][b], a, b])).filter(([tau]) => known(tau));
      const lowest = pairs.sort(([one], [other]) => one - other)[0];
      if (lowest) {
        const [tau, a, b] = lowest;
        const see = () => set({ view: "measures", from: b, to: a });
        answers.push(["Measures that agree least", link(`${D.measures[b]} and ${D.measures[a]}`, see), `, \u03c4 = ${fixed(tau, 2)}`]);
      }
    }
    const most = D.unjudged && order(D.unjudged.map((x) => x ?? -1))[0];
    if (most !== null && D.unjudged[most] > 0) {
      const above = D.unjudged.filter((x) => x > 0.1).length;
      answers.push([
        "Most unjudged in the top 10", link(D.runs[most], () => openRun(most)), ` ${percent(D.unjudged[most])}; `,
        `${above} run${above === 1 ? "" : "s"} above 10 %`,
      ]);
    }
    const by = order(topicMeans(S.m));
    const [easy, hard] = [by[0], by[T - 1]];
    answers.push([
      `Hardest and easiest topic by ${D.measures[S.m]}`, link(D.topics[hard], () => openTopic(hard)),
      ` ${fixed(topicMeans(S.m)[hard])}, `, link(D.topics[easy], () => openTopic(easy)),
      ` ${fixed(topicMeans(S.m)[easy])} over all runs`,
    ]);
    fill("answers", facts(...answers));
  }
  const topicMeans = (m) => D.topics.map((_, t) => mean(D.scores[m].map((of) => of[t])));
  function openRun(run) {
    S.open.add(run);
    S.row = run;
    S.filter = "";
    set({ view: "runs" });
    rowOf(run)?.scrollIntoView({ block: "center" });
    rowOf(run)?.focus();
  }

  // ---------------------------------------------------------------- leaderboard

  const columns = [
    ...all(M).map((m) => ({ key: `m${m}`, name: D.measures[m], of: (run) => D.mean[m][run], m })),
    D.unjudged && D.unjudged.some((x) => x > 0) && { key: "unjudged", name: "Unjudged@10", of: (run) => D.unjudged[run] },
    D.ties && { key: "ties", name: "Ties", of: (run) => D.ties[S.m][run] },
    D.rbo && { key: "rbo", name: "RBO", of: (run) => D.rbo[run] },
  ].filter(Boolean);
  const titles = {
    unjudged: "Share of the first ten documents that nobody judged, mean over the topics",
    ties: "By how much the order of documents with equal scores can change the mean by the chosen measure",
    rbo: "Rank-biased overlap of the documents with those of the baseline",
  };
  // Intervals wider than half the range of the measure have no ends.
  const endOf = (ends, m, run) => ends[m][run] ?? D.mean[m][run];
  const endsText = (m, run, between) => (known(D.low[m][run]) ? fixed(D.low[m][run]) + between + fixed(D.high[m][run]) : "too few topics");
  // Axes leave out the tail of weak runs: they begin at the 20th percentile of the lower ends.
  const axes = all(M).map((m) => {
    const low = quantile(all(R).map((run) => endOf(D.low, m, run)), R > 10 ? 0.2 : 0);
    const high = Math.max(...all(R).map((run) => endOf(D.high, m, run)));
    const pad = (high - low || 0.1) * 0.06;
    return [low - pad, high + pad];
  });
  const share = (m, x) => (100 * (x - axes[m][0])) / (axes[m][1] - axes[m][0]);
  const rowOf = (run) => document.querySelector(`#board tr[data-run="${run}"]`);

  function interval(m, run) {
    const sign = D.sign ? D.sign[m][run] : 0;
    const colour = sign > 0 ? "better" : sign < 0 ? "worse" : "";
    const [low, middle, high] = [D.low, D.mean, D.high].map((of) => share(m, endOf(of, m, run)));
    const base = D.sign && known(D.baseline) ? share(m, D.mean[m][D.baseline]) : -1;
    return el(
      "span", { class: `axis ${colour}`, "aria-hidden": "true" },
      base >= 0 && el("i", { class: "base", style: `left:${base}%` }),
      high >= 0 && el("i", { class: "bar", style: `left:${Math.max(0, low)}%;right:${100 - high}%` }),
      low < 0 && el("i", { class: "below" }, "\u25c2"),
      middle >= 0 && el("i", { class: "point", style: `left:${middle}%` }),
    );
  }
  function mark(m, run) {
    if (!D.sign || !D.sign[m][run]) return el("span", { class: "mark" });
    const up = D.sign[m][run] > 0;
    return el(
      "span", { class: `mark ${up ? "better" : "worse"}` }, el("span", { "aria-hidden": "true" }, up ? "\u25b2" : "\u25bc"),
      el("span", { class: "unseen" }, up ? " significantly better" : " significantly worse"),
    );
  }
  const rankSet = (run) => {
    const [low, high] = [D.ranks.low[run], D.ranks.high[run]];
    return low === high ? String(low) : `${low}\u2013${high}`;
  };

  function shownRuns() {
    const column = columns.find((one) => one.key === S.sort);
    const value = column ? column.of : null;
    const words = new Intl.Collator("en", { numeric: true });
    const sorted = all(R).sort((x, y) => {
      const direction = S.up ? 1 : -1;
      if (!value) return direction * words.compare(D.runs[x], D.runs[y]);
      const [one, other] = [value(x), value(y)];
      if (known(one) !== known(other)) return known(one) ? -1 : 1;
      return direction * (one - other) || ranks[0][x] - ranks[0][y] || x - y;
    });
    const wanted = S.filter.toLowerCase();
    const rest = sorted.filter((run) => !S.pins.has(run) && !S.onlyPins && D.runs[run].toLowerCase().includes(wanted));
    return [...sorted.filter((run) => S.pins.has(run)), ...rest];
  }

  function drawRuns() {
    const toggle = (column) => {
      S.hidden.has(column.key) ? S.hidden.delete(column.key) : S.hidden.add(column.key);
      draw();
    };
    const input = byId("filter") ?? el("input", {
      id: "filter", type: "search", placeholder: "Filter runs  /", "aria-label": "Filter runs",
      oninput: (event) => { S.filter = event.target.value; drawBoard(); },
    });
    input.value = S.filter;
    const chips = columns.map((column) => button(column.name, () => toggle(column), { "aria-pressed": String(!S.hidden.has(column.key)) }));
    if (!input.isConnected) byId("tools").prepend(input);
    for (const old of [...byId("tools").children].slice(1)) old.remove();
    byId("tools").append(
      el("span", { class: "chips", role: "group", "aria-label": "Columns" }, chips),
      el("span", { class: "chips", role: "group", "aria-label": "Height of the rows" },
        button("Compact", () => set({ roomy: false }), { "aria-pressed": String(!S.roomy) }),
        button("Roomy", () => set({ roomy: true }), { "aria-pressed": String(S.roomy) })),
      button("Pinned only", () => set({ onlyPins: !S.onlyPins }), { "aria-pressed": String(S.onlyPins) }),
      el("span", { id: "count", role: "status" }),
    );
    drawBoard();
  }

  function drawBoard() {
    const shown = columns.filter((column) => !S.hidden.has(column.key));
    const sorts = (key, name, props, ...more) => {
      const direction = S.sort === key ? (S.up ? "ascending" : "descending") : null;
      const sort = () => {
        const up = S.sort === key ? !S.up : key === "name";
        set({ sort: key, up, m: key[0] === "m" ? Number(key.slice(1)) : S.m });
        say(`Sorted by ${name}, ${up ? "ascending" : "descending"}`);
      };
      const arrow = direction ? (S.up ? " \u2191" : " \u2193") : "";
      return el("th", { scope: "col", "aria-sort": direction, ...props }, button(name + arrow, sort, { title: titles[key] }), ...more);
    };
    const scale = (m) => el(
      "span", { class: "axis scale", "aria-hidden": "true" },
      fewTicks(...axes[m]).map((x) => el("i", { style: `left:${share(m, x)}%` }, tick(x))),
    );
    const head = el(
      "tr", {}, el("th", { scope: "col", class: "rank" }, "Rank"),
      D.ranks && el("th", { scope: "col", class: "set", title: `Confidence set for the rank by ${D.measures[0]}` }, S.m ? "" : `${D.level} set`),
      sorts("name", "Run", { class: "name" }),
      shown.map((column) => sorts(column.key, column.name, { class: known(column.m) ? `measure${column.m === S.m ? " chosen" : ""}` : "extra" }, known(column.m) ? scale(column.m) : "")),
    );
    const runs = shownRuns();
    if (!runs.includes(S.row)) S.row = runs[0];
    const rows = runs.flatMap((run) => {
      const row = boardRow(run, shown);
      return S.open.has(run) ? [row, openRow(run, 2 + (D.ranks ? 1 : 0) + shown.length)] : [row];
    });
    const count = runs.length === R ? `${R} run${R === 1 ? "" : "s"}` : runs.length ? `${runs.length} of ${R} runs` : "no run has this in its name";
    const board = byId("board");
    const caption = el("caption", { id: "board-caption", class: "unseen" }, `Means of the runs with ${D.level} intervals; a row opens with Enter or a click.`);
    fill("board", caption, el("thead", {}, head), el("tbody", {}, rows));
    board.className = S.roomy ? "board roomy" : "board";
    // A box that scrolls would take the place of the window for the sticky head.
    const box = board.parentElement;
    box.classList.remove("scroll");
    if (board.offsetWidth > box.clientWidth + 1) box.classList.add("scroll");
    byId("count").textContent = count;
    for (const note of document.querySelectorAll("[data-column]")) note.hidden = !shown.some((column) => column.key === note.dataset.column);
  }

  function boardRow(run, shown) {
    const pick = (which) => button(which.toUpperCase(), (event) => { event.stopPropagation(); set({ [which]: run }); }, {
      class: S[which] === run ? `badge ${which}` : "ghost", "aria-label": `Choose ${D.runs[run]} as ${which.toUpperCase()}`, tabindex: -1,
    });
    const pinned = S.pins.has(run);
    const pin = button(pinned ? "\u25cf" : "\u25cb", (event) => { event.stopPropagation(); togglePin(run); }, {
      class: pinned ? "pinned" : "ghost", "aria-label": `${pinned ? "Unpin" : "Pin"} ${D.runs[run]}`, tabindex: -1,
    });
    const cells = shown.map((column) => {
      const value = column.of(run);
      if (known(column.m)) {
        const m = column.m;
        const lines = tipped(D.runs[run], `${D.measures[m]} ${fixed(value, 4)} [${endsText(m, run, ", ")}]`);
        return el("td", { class: m === S.m ? "measure chosen" : "measure", ...lines }, el("b", {}, fixed(value)), mark(m, run), interval(m, run));
      }
      if (column.key === "unjudged") {
        const bar = el("i", { class: "hatch", style: `width:${Math.round(60 * (value ?? 0))}px`, "aria-hidden": "true" });
        return el("td", { class: "extra" }, value ? [percent(value), bar] : "\u2013");
      }
      return el("td", { class: "extra" }, value && value >= 0.0005 ? fixed(value) : "\u2013");
    });
    const expanded = S.open.has(run);
    return el(
      "tr", {
        "data-run": run, tabindex: run === S.row ? 0 : -1,
        class: [D.ranks?.first[run] && !S.m && "first", pinned && "kept", run === D.baseline && "baseline"].filter(Boolean).join(" ") || null,
        onclick: () => { S.row = run; toggleOpen(run); },
      },
      // Confidence sets are of ranks by the first measure.
      el("td", { class: "rank" }, String(ranks[S.m][run])), D.ranks && el("td", { class: "set" }, S.m ? "" : rankSet(run)),
      el("th", { scope: "row", class: "name" }, el("button", { type: "button", class: "opens", tabindex: -1, "aria-expanded": String(expanded) }, runName(run)), run === D.baseline && el("span", { class: "tag" }, "baseline"), D.ranks && !S.m && el("small", { class: "set" }, `rank ${rankSet(run)}`), el("span", { class: "pins" }, pick("a"), pick("b"), pin)), cells,
    );
  }
  function toggleOpen(run) {
    S.open.has(run) ? S.open.delete(run) : S.open.add(run);
    drawBoard();
    rowOf(run).focus();
  }
  function togglePin(run) {
    S.pins.has(run) ? S.pins.delete(run) : S.pins.add(run);
    set({ row: run });
    rowOf(run)?.focus();
  }

  function openRow(run, span) {
    const head = ["measure", "mean", D.level, D.sign && "to baseline", D.sign && "p", D.detectable && "detects"].filter(Boolean);
    const lines = all(M).map((m) => el(
      "tr", {}, el("th", { scope: "row" }, D.measures[m]), el("td", {}, fixed(D.mean[m][run], 4)),
      el("td", {}, endsText(m, run, " to ")),
      D.sign && el("td", {}, run === D.baseline ? "" : signed(D.difference[m][run], 4)),
      D.sign && el("td", {}, run === D.baseline ? "" : D.p[m][run]),
      D.detectable && el("td", {}, run === D.baseline ? "" : fixed(D.detectable[m][run])),
    ));
    const notes = [
      D.ranks && `Rank ${rankSet(run)} by ${D.measures[0]} (${D.level})${D.ranks.first[run] ? ", tied for first" : ""}.`,
      D.unjudged && known(D.unjudged[run]) && `${percent(D.unjudged[run])} of the first ten documents are not judged.`,
      D.ties && known(D.ties[S.m][run]) && `The order of tied documents changes the mean of ${D.measures[S.m]} by up to ${fixed(D.ties[S.m][run], 4)}.`,
      D.rbo && known(D.rbo[run]) && `Overlap with the baseline (RBO): ${fixed(D.rbo[run])}.`,
    ].filter(Boolean);
    const actions = el("p", {}, button("Compare as A", () => set({ a: run, view: "compare" })), button("as B", () => set({ b: run, view: "compare" })), button(S.pins.has(run) ? "Unpin" : "Pin", () => togglePin(run)));
    return el("tr", { class: "opened" }, el("td", { colspan: span }, el(
      "div", {}, el("table", {}, el("thead", {}, el("tr", {}, head.map((one) => el("th", { scope: "col" }, one)))), el("tbody", {}, lines)),
      el("figure", {}, el("figcaption", {}, el("b", {}, `${D.measures[S.m]} by topic`), " point: this run, bar: middle half of all runs"), topicStrip(run)),
      el("div", { class: "words" }, actions, notes.map((text) => el("p", {}, text))),
    )));
  }
  function topicStrip(run) {
    const [width, height] = [330, 110];
    const of = D.scores[S.m];
    const top = Math.max(...of.map((one) => Math.max(...one)), 1e-9);
    const y = (x) => 8 + (height - 18) * (1 - x / top);
    const by = order(of[run]).reverse();
    const step = (width - 34) / T;
    return picture(
      width, height, `${D.measures[S.m]} of ${D.runs[run]} by topic`,
      [0, top].map((x) => [el("line", { x1: 28, x2: width, y1: y(x), y2: y(x), class: "grid" }), label(24, y(x) + 4, tick(x), { "text-anchor": "end" })]),
      by.map((t, at) => {
        const x = 32 + step * (at + 0.5);
        const every = of.map((one) => one[t]);
        return el(
          "g", { class: "hit", onclick: (event) => { event.stopPropagation(); openTopic(t); }, ...tipped(`topic ${topicName(t)}`, fixed(of[run][t], 4)) },
          el("rect", { x: x - step / 2, y: 0, width: step, height, class: "clear" }),
          el("line", { x1: x, x2: x, y1: y(quantile(every, 0.25)), y2: y(quantile(every, 0.75)), class: "middle", "stroke-width": Math.min(6, step * 0.6) }),
          el("circle", { cx: x, cy: y(of[run][t]), r: Math.min(2.6, Math.max(1.4, step * 0.4)) }),
        );
      }),
    );
  }
  byId("board").addEventListener("keydown", (event) => {
    const row = event.target.closest("tr[data-run]");
    if (!row || event.target !== row) return;
    const runs = shownRuns();
    const at = runs.indexOf(Number(row.dataset.run));
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: runs.length - 1 };
    const run = runs[at];
    if (event.key in moves) {
      S.row = runs[Math.max(0, Math.min(runs.length - 1, moves[event.key]))];
      row.tabIndex = -1;
      rowOf(S.row).tabIndex = 0;
      rowOf(S.row).focus();
    } else if (event.key === "Enter" || event.key === " ") toggleOpen(run);
    else if ("ab".includes(event.key.toLowerCase())) {
      set({ [event.key.toLowerCase()]: run });
      rowOf(run).focus();
    } else if (event.key.toLowerCase() === "p") togglePin(run);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea")) {
      if (event.key === "Escape" && event.target.id === "filter") {
        S.filter = event.target.value = "";
        drawBoard();
      }
    } else if (event.key === "/") {
      event.preventDefault();
      set({ view: "runs" });
      byId("filter").focus();
    }
  });

  // ---------------------------------------------------------------- two runs

  function drawCompare() {
    if (R < 2) return;
    const { a, b, m } = S;
    const found = compared(m, a, b);
    const p = found.p ? `, p ${found.p[0] === "<" ? "" : "= "}${found.p} ${D.corrected}${known(found.low) ? ";" : ""}` : "";
    const ends = known(found.low) ? ` [${signed(found.low)}, ${signed(found.high)}] uncorrected, this pair alone` : "";
    const words = { better: "is better than", worse: "is worse than", open: "is not shown to differ from", "": "against" };
    const title = el("h2", { class: "verdict" }, runName(a), ` ${words[found.verdict]} `, runName(b), ` by ${D.measures[m]}: `, el("b", {}, signed(found.mean)), el("small", {}, p, ends));
    const wins = found.each.filter((x) => x > 0).length;
    const losses = found.each.filter((x) => x < 0).length;
    const others = all(M).filter((one) => one !== m).map((one) => {
      const other = compared(one, a, b);
      const inside = known(other.low) ? ` [${signed(other.low)}, ${signed(other.high)}]` : "";
      const side = other.mean > 0 ? " of-a" : other.mean < 0 ? " of-b" : "";
      return [D.measures[one], button(signed(other.mean), () => set({ m: one }), { class: `link${side}` }), el("small", {}, inside)];
    });
    const numbers = facts(
      [`A, mean ${D.measures[m]}`, el("span", { class: "of-a" }, fixed(D.mean[m][a]))],
      [`B, mean ${D.measures[m]}`, el("span", { class: "of-b" }, fixed(D.mean[m][b]))],
      ["A better \u00b7 equal \u00b7 B better", `${wins} \u00b7 ${T - wins - losses} \u00b7 ${losses} topics${D.weights ? ", not weighted" : ""}`], ...others,
    );
    const sorted = order(found.each);
    const bars = el("figure", {},
      known(found.low) && [el("figcaption", {}, el("b", {}, "Mean difference"), ` A \u2212 B, with its ${D.level} interval`), meanInterval(found)],
      el("figcaption", {}, el("b", {}, "Difference by topic"), ` A \u2212 B, largest first; dashed: the mean${known(found.low) ? ", band: its interval" : ""}`), differenceBars(found, sorted));
    const points = el("figure", {}, el("figcaption", {}, el("b", {}, `${D.measures[m]} of A against B`), T > MOST_POINTS ? " darker: more topics" : ""), scatter(m, a, b));
    const list = el("div", {}, topicList(m, a, b, found, sorted));
    const search = el("input", {
      type: "search", value: S.find, placeholder: "Find a topic", "aria-label": "Find a topic",
      oninput: (event) => { S.find = event.target.value; list.replaceChildren(topicList(m, a, b, found, sorted)); },
    });
    fill(
      "compare", title, numbers, el("div", { class: "pair" }, bars, points),
      el("h3", {}, "Topics"), el("p", { class: "key" }, `A, B and the difference. A topic opens its ranked lists.${T > 3 * LISTED ? ` These are the ${LISTED} at each end of ${T}; the search finds up to ${2 * LISTED} others. ` : ""}`),
      T > 3 * LISTED && search, list, el("p", { class: "key" }, D.geometric[m] ? "A geometric mean is not tested." : D.pairWords),
    );
  }
  function differenceBars(found, sorted) {
    const [width, height, left] = [narrow() ? 360 : 840, 280, 44];
    const low = Math.min(0, found.low ?? 0, ...found.each);
    const high = Math.max(0, found.high ?? 0, ...found.each);
    const pad = (high - low || 1) * 0.08;
    const y = (x) => ((height - 4) * (high + pad - x)) / (high - low + 2 * pad) + 2;
    const step = (width - left) / T;
    // Names where they fit: of three topics at each end, or of the first and the last one.
    const fits = Math.max(...sorted.slice(0, 3).concat(sorted.slice(-3)).map((t) => D.topics[t].length)) * 6.4 < step;
    const number = fits ? 3 : 1;
    const extreme = new Set([...sorted.slice(0, number), ...sorted.slice(-number)]);
    const anchor = (at) => (fits ? "middle" : at ? "end" : "start");
    const place = (at) => left + step * (fits ? at + 0.5 : at ? T : 0);
    return picture(
      width, height, `Differences in ${D.measures[S.m]} by topic, largest first`,
      known(found.low) && el("rect", { x: left, y: y(found.high), width: width - left, height: Math.max(0.5, y(found.low) - y(found.high)), class: "band" }),
      ticks(low, high, 6).map((x) => [el("line", { x1: left, x2: width, y1: y(x), y2: y(x), class: x ? "grid" : "zero" }), label(left - 6, y(x) + 4, (x > 0 ? "+" : "") + tick(x), { "text-anchor": "end" })]),
      el("line", { x1: left, x2: width, y1: y(found.mean), y2: y(found.mean), class: "mean" }),
      sorted.map((t, at) => {
        const x = left + step * at;
        const value = found.each[t];
        const wide = Math.max(1, step * 0.7);
        const lines = tipped(`topic ${topicName(t)}`, `A ${fixed(D.scores[S.m][S.a][t], 4)}, B ${fixed(D.scores[S.m][S.b][t], 4)}`, `A \u2212 B ${signed(value, 4)}`);
        return el(
          "g", { class: "hit", "data-topic": t, onclick: () => openTopic(t), ...lines }, el("rect", { x, y: 0, width: step, height, class: "clear" }),
          el("rect", { x: x + (step - wide) / 2, y: Math.min(y(0), y(value)), width: wide, height: Math.abs(y(value) - y(0)), class: value > 0 ? "fill-a" : "fill-b" }),
          t === S.t && el("circle", { cx: x + step / 2, cy: y(value), r: 3.5, class: "here" }),
          extreme.has(t) && value && label(place(at), value > 0 ? y(value) - 4 : y(value) + 12, D.topics[t], { "text-anchor": anchor(at) }),
        );
      }),
    );
  }
  // The mean and its interval on an axis of their own: among the topics it may be too narrow to be seen.
  function meanInterval(found) {
    const [width, left, base] = [narrow() ? 360 : 840, 44, 22];
    const pad = (found.high - found.low || 1) * 0.5;
    const [low, high] = [Math.min(0, found.low) - pad, Math.max(0, found.high) + pad];
    const x = (value) => left + ((width - left - 20) * (value - low)) / (high - low);
    const side = found.low > 0 ? "better" : found.high < 0 ? "worse" : "";
    return picture(
      width, 44, `Mean difference ${signed(found.mean)}, interval from ${signed(found.low)} to ${signed(found.high)}`,
      el("line", { x1: left, x2: width - 20, y1: base, y2: base, class: "grid" }),
      fewTicks(low, high).map((value) => [el("line", { x1: x(value), x2: x(value), y1: base - 3, y2: base + 3, class: "grid" }), label(x(value), base + 18, (value > 0 ? "+" : "") + tick(value), { "text-anchor": "middle" })]),
      el("line", { x1: x(0), x2: x(0), y1: base - 14, y2: base + 6, class: "zero" }),
      el("rect", { x: x(found.low), y: base - 5, width: x(found.high) - x(found.low), height: 10, rx: 2, class: `span ${side}` }),
      el("rect", { x: x(found.mean) - 1, y: base - 9, width: 2, height: 18, class: "mean-mark" }),
    );
  }
  function scatter(m, a, b) {
    const [size, left] = [290, 34];
    const both = [...D.scores[m][a], ...D.scores[m][b]];
    const [low, high] = [Math.min(0, ...both), Math.max(...both, 1e-9)];
    const at = (x) => ((size - left - 8) * (x - low)) / (high - low);
    const [x, y] = [(value) => left + at(value), (value) => size - left - at(value)];
    return picture(
      size, size, `${D.measures[m]} of ${D.runs[a]} against ${D.runs[b]}, a point per topic`,
      ticks(low, high, 4).map((v) => [
        el("line", { x1: x(v), x2: x(v), y1: y(low), y2: y(high), class: "grid" }), el("line", { x1: x(low), x2: x(high), y1: y(v), y2: y(v), class: "grid" }),
        label(x(v), y(low) + 14, tick(v), { "text-anchor": "middle" }), label(left - 5, y(v) + 4, tick(v), { "text-anchor": "end" }),
      ]),
      el("line", { x1: x(low), y1: y(low), x2: x(high), y2: y(high), class: "zero" }),
      label(x(low) + 5, y(high) + 12, "A better", { class: "text-a" }), label(x(high) - 3, y(low) - 6, "B better", { class: "text-b", "text-anchor": "end" }),
      label(x(high), size - 3, "B \u2192", { "text-anchor": "end" }),
      T > MOST_POINTS ? bins(m, a, b, x, y, low, high) : all(T).map((t) => {
        const [of, other] = [D.scores[m][a][t], D.scores[m][b][t]];
        const colour = of > other ? "fill-a" : of < other ? "fill-b" : "fill-grey";
        return el("circle", {
          cx: x(other), cy: y(of), r: t === S.t ? 5 : 3.6, class: `hit ${colour}${t === S.t ? " here" : ""}`,
          onclick: () => openTopic(t), ...tipped(`topic ${topicName(t)}`, `A ${fixed(of, 4)}, B ${fixed(other, 4)}`),
        });
      }),
    );
  }
  // Above this number of topics, points hide one another: squares show how many there are.
  const MOST_POINTS = 300;
  function bins(m, a, b, x, y, low, high) {
    const number = 30;
    const step = (high - low) / number;
    const counts = new Map();
    const bin = (value) => Math.min(number - 1, Math.floor((value - low) / step));
    for (const t of all(T)) {
      const key = bin(D.scores[m][b][t]) + number * bin(D.scores[m][a][t]);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    return [...counts].map(([key, count]) => {
      const [column, row] = [key % number, Math.floor(key / number)];
      const [left, bottom] = [low + column * step, low + row * step];
      const side = row > column ? "a" : row < column ? "b" : "grey";
      const words = [`${count} topic${count > 1 ? "s" : ""}`, `A ${fixed(bottom, 2)} to ${fixed(bottom + step, 2)}`, `B ${fixed(left, 2)} to ${fixed(left + step, 2)}`];
      return el("rect", { x: x(left), y: y(bottom + step), width: x(left + step) - x(left), height: y(bottom) - y(bottom + step), "fill-opacity": 0.15 + 0.85 * Math.sqrt(count / most), class: `fill-${side}`, ...tipped(...words) });
    });
  }
  // The list shows so many topics at each end; a search finds the others.
  const LISTED = 20;
  function foundTopics(sorted) {
    const wanted = S.find.trim().toLowerCase();
    if (wanted) return sorted.filter((t) => topicName(t).toLowerCase().includes(wanted)).slice(0, 2 * LISTED);
    return T > 3 * LISTED ? [...sorted.slice(0, LISTED), ...sorted.slice(-LISTED)] : sorted;
  }
  function topicList(m, a, b, found, sorted) {
    const largest = Math.max(...found.each.map(Math.abs), 1e-9);
    const rows = foundTopics(sorted).map((t) => {
      const value = found.each[t];
      const bar = el("i", { class: value > 0 ? "fill-a" : "fill-b", style: `width:${(50 * Math.abs(value)) / largest}%;${value > 0 ? "left" : "right"}:50%` });
      return el(
        "li", {}, button("", () => openTopic(t), { class: "link", "data-topic": t, "aria-label": `Topic ${topicName(t)}: A ${fixed(D.scores[m][a][t])}, B ${fixed(D.scores[m][b][t])}, difference ${signed(value)}` }),
        el("span", { class: "id" }, D.topics[t]), el("span", { class: "query" }, D.queries?.[t] ?? ""), el("span", {}, fixed(D.scores[m][a][t], 2)), el("span", {}, fixed(D.scores[m][b][t], 2)),
        el("span", { class: "delta", "aria-hidden": "true" }, bar), el("span", { class: value > 0 ? "of-a" : value < 0 ? "of-b" : "" }, signed(value)),
      );
    });
    return el("ol", { class: "topic-list" }, rows);
  }

  // ---------------------------------------------------------------- runs x topics

  const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function ramp(names) {
    const stops = names.map((name) => colourOf(name).match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16)));
    return (share) => {
      const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
      const at = Math.min(stops.length - 2, Math.floor(place));
      return `rgb(${stops[at].map((part, c) => Math.round(part + (stops[at + 1][c] - part) * (place - at))).join(",")})`;
    };
  }
  // Black or white, whichever stands out from a background (relative luminance of WCAG 2).
  function ink(colour) {
    const parts = colour.match(/\d+/g).map((part) => part / 255);
    const light = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? "#000000" : "#ffffff";
  }
  function drawTopics() {
    const m = S.m;
    const of = D.scores[m];
    const runs = order(D.mean[m]);
    const means = topicMeans(m);
    const medians = D.topics.map((_, t) => quantile(of.map((one) => one[t]), 0.5));
    const words = new Intl.Collator("en", { numeric: true });
    const sorted = S.topics === "mean" ? order(means).reverse() : all(T).sort((x, y) => words.compare(D.topics[x], D.topics[y]));
    const topics = T > MOST_POINTS ? [...sorted.slice(0, MOST_POINTS / 2), ...sorted.slice(-MOST_POINTS / 2)] : sorted;
    const shown = T > MOST_POINTS ? `, ${MOST_POINTS / 2} from each end of the order` : "";
    const modes = el("div", { class: "tools" },
      el("span", { class: "chips", role: "group", "aria-label": "Values" },
        button("Score", () => set({ median: false }), { "aria-pressed": String(!S.median) }),
        button("Against the topic\u2019s median", () => set({ median: true }), { "aria-pressed": String(S.median) })),
      el("span", { class: "chips", role: "group", "aria-label": "Order of the topics" },
        button("Hard topics first", () => set({ topics: "mean" }), { "aria-pressed": String(S.topics === "mean") }),
        button("By topic id", () => set({ topics: "id" }), { "aria-pressed": String(S.topics === "id") })));
    const high = Math.max(...of.map((one) => Math.max(...one)), 1e-9);
    const widest = Math.max(...of.flatMap((one) => one.map((x, t) => Math.abs(x - medians[t]))), 1e-9);
    const score = ramp(["--q0", "--q1", "--q2", "--q3"]);
    const apart = ramp(["--b", "--b2", "--panel", "--a2", "--a"]);
    const colour = (run, t) => (S.median ? apart(0.5 + (of[run][t] - medians[t]) / (2 * widest)) : score(of[run][t] / high));
    const lines = topics.map((t) => {
      const every = of.map((one) => one[t]);
      const bar = el("span", { class: "spread", "aria-hidden": "true" },
        el("i", { style: `left:${(100 * quantile(every, 0.1)) / high}%;right:${100 - (100 * quantile(every, 0.9)) / high}%` }), el("b", { style: `left:${(100 * means[t]) / high}%` }));
      return el("li", {}, button("", () => openTopic(t), { class: "link", "aria-label": `Topic ${topicName(t)}, mean of all runs ${fixed(means[t])}` }), el("span", { class: "id" }, D.topics[t]), el("span", { class: "query" }, D.queries?.[t] ?? ""), el("span", { class: "value" }, fixed(means[t])), bar);
    });
    const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `${D.measures[m]} of ${R} runs (columns, best first) on ${topics.length} topics (rows). Arrow keys move, Enter opens the topic, A and B choose the run.` });
    const marks = el("div", { class: "marks", "aria-hidden": "true" });
    const where = el("p", { class: "key", id: "cell", role: "status" }, "Columns are runs, best first. Point at a cell, or move with the arrow keys; Enter or a click opens its topic.");
    fill("topics", el("h2", {}, `${D.measures[m]} of ${R} run${R > 1 ? "s" : ""} on ${T} topics${shown}`), modes, el("div", { class: "heat" }, el("ol", { class: "heat-topics" }, lines), el("div", {}, marks, canvas)), legend(S.median ? apart : score, S.median ? [-widest, widest] : [0, high]), where);
    const cell = { run: Math.max(0, runs.indexOf(S.a)), topic: Math.max(0, topics.indexOf(S.t)) };
    const words_of = (run, t) => [`${D.runs[run]}`, `topic ${topicName(t)}`, `${D.measures[m]} ${fixed(of[run][t], 4)} (median of the topic ${fixed(medians[t], 4)})`];
    const paint = () => {
      const height = byId("topics").querySelector(".heat-topics").getBoundingClientRect().height;
      const width = Math.max(1, Math.min(marks.getBoundingClientRect().width, 56 * R));
      const scale = devicePixelRatio;
      canvas.width = width * scale;
      canvas.height = height * scale;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      const pen = canvas.getContext("2d");
      const [cw, ch] = [canvas.width / R, canvas.height / topics.length];
      topics.forEach((t, row) => runs.forEach((run, column) => {
        pen.fillStyle = colour(run, t);
        pen.fillRect(Math.floor(column * cw), Math.floor(row * ch), Math.ceil(cw), Math.ceil(ch) - scale);
      }));
      // A and B stand above their columns, apart where these are close.
      const middle = (run) => ((runs.indexOf(run) + 0.5) * width) / R;
      const near = S.a !== S.b && Math.abs(middle(S.a) - middle(S.b)) < 14;
      const side = (run) => (!near ? "" : middle(run) === Math.min(middle(S.a), middle(S.b)) ? "before" : "after");
      marks.replaceChildren(...(R > 1 ? [[S.a, "a"], [S.b, "b"]] : []).map(([run, name]) => el(
        "b", { class: `of-${name} ${side(run)}`, style: `left:${middle(run)}px` },
        side(run) === "after" ? `\u25be${name.toUpperCase()}` : `${name.toUpperCase()}\u25be`)));
      if (document.activeElement === canvas) {
        pen.strokeStyle = colourOf("--ink");
        pen.lineWidth = 2 * scale;
        pen.strokeRect(cell.run * cw, cell.topic * ch, cw, ch);
      }
    };
    const hit = (event) => {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) / box.width) * R);
      const row = Math.floor(((event.clientY - box.top) / box.height) * topics.length);
      return [runs[Math.max(0, Math.min(R - 1, column))], topics[Math.max(0, Math.min(topics.length - 1, row))]];
    };
    canvas.addEventListener("pointermove", (event) => showTip(event, ...words_of(...hit(event))));
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("click", (event) => openTopic(hit(event)[1]));
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, paint);
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
      const [run, t] = [runs[cell.run], topics[cell.topic]];
      if (event.key in moves) {
        cell.run = Math.max(0, Math.min(R - 1, cell.run + moves[event.key][0]));
        cell.topic = Math.max(0, Math.min(topics.length - 1, cell.topic + moves[event.key][1]));
        where.textContent = words_of(runs[cell.run], topics[cell.topic]).join(", ");
        paint();
      } else if (event.key === "Enter") openTopic(t);
      else if ("ab".includes(event.key.toLowerCase())) set({ [event.key.toLowerCase()]: run });
      else return;
      event.preventDefault();
    });
    repaint = paint;
    paint();
  }
  let repaint = () => {};
  const legend = (colour, [low, high]) => el("p", { class: "key legend" }, fixed(low, 2), el("span", { class: "ramp", "aria-hidden": "true" }, all(9).map((at) => el("i", { style: `background:${colour(at / 8)}` }))), fixed(high, 2), " Right of the topic: mean of all runs, bar from the 10th to the 90th percentile.");

  // ---------------------------------------------------------------- measures

  function drawMeasures() {
    if (M < 2 || R < 2) return;
    const { from, to } = S;
    const moved = all(R).map((run) => ranks[from][run] - ranks[to][run]);
    const sorted = order(moved.map(Math.abs)).filter((run) => moved[run]);
    const moves = sorted.slice(0, 12);
    const pickers = el("span", { class: "tools" }, "from ", choice(D.measures, from, (at) => set({ from: at }), "From measure"), " to ", choice(D.measures, to, (at) => set({ to: at }), "To measure"));
    const list = el("table", { class: "plain" },
      el("caption", {}, "Largest moves"),
      el("thead", {}, el("tr", {}, ["Run", D.measures[from], D.measures[to], "places"].map((one) => el("th", { scope: "col" }, one)))),
      el("tbody", {}, moves.map((run) => el("tr", {}, el("th", { scope: "row" }, link(D.runs[run], () => openRun(run))), el("td", {}, String(ranks[from][run])), el("td", {}, String(ranks[to][run])), el("td", { class: moved[run] > 0 ? "of-a" : "of-b" }, `${moved[run] > 0 ? "\u25b2" : "\u25bc"} ${Math.abs(moved[run])}`)))));
    // Of many runs or measures, the lines only cross.
    const showsSlopes = R <= 30 && (M <= 4 || !narrow());
    const shade = ramp(["--q0", "--q1", "--q2", "--q3"]);
    const cells = all(M).slice(1).map((row) => el("tr", {}, el("th", { scope: "row" }, D.measures[row]), all(M - 1).map((column) => {
      if (column >= row) return el("td", {});
      const tau = D.tau[row][column];
      const here = new Set([from, to]).has(row) && new Set([from, to]).has(column) && from !== to;
      const share = known(tau) ? Math.max(0, (tau - 0.5) * 2) : 0;
      return el("td", { class: here ? "here" : null }, button(fixed(tau, 2), () => set({ from: column, to: row }), { style: `background:${shade(share)};color:${ink(shade(share))}`, "aria-label": `${D.measures[row]} and ${D.measures[column]}: tau ${fixed(tau, 2)}` }));
    })));
    const matrix = el("table", { class: "tau" }, el("caption", {}, "Agreement of the rankings of the runs, Kendall\u2019s \u03c4. A cell chooses the pair."), el("thead", {}, el("tr", {}, el("td", {}), all(M - 1).map((m) => el("th", { scope: "col" }, D.measures[m])))), el("tbody", {}, cells));
    fill("measures", el("h2", {}, `Who gains under ${D.measures[to]} against ${D.measures[from]}`), pickers,
      el("div", { class: "two" }, el("figure", {}, el("figcaption", {}, `A point per run: rank by ${D.measures[from]} (across) and by ${D.measures[to]} (down)`), rankScatter(from, to, moved, new Set(moves.slice(0, narrow() ? 4 : 10)))),
        el("div", {}, el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Agreement of measures" }, matrix), showsSlopes && el("figure", {}, el("figcaption", {}, el("b", {}, "Rank of all runs by each measure")), slopes()), list)));
  }
  function rankScatter(from, to, moved, named) {
    const [size, left] = [narrow() ? 360 : 620, 30];
    const at = (rank) => left + ((size - left - 12) * (rank - 1)) / Math.max(1, R - 1);
    // The height of a label, below those that it would hide.
    const labels = [];
    const free = (x, y, width) => {
      const [start, stop] = [Math.min(x, x + width), Math.max(x, x + width)];
      while (labels.some((one) => Math.abs(one.y - y) < 11 && start < one.stop && one.start < stop)) y += 11;
      labels.push({ start, stop, y });
      return y;
    };
    const marks = [1, ...ticks(1, R, 4).filter((x) => x > 1 && x < R - R / 12 && Number.isInteger(x)), R];
    return picture(
      size, size, `Ranks of the runs by ${D.measures[from]} and ${D.measures[to]}`,
      marks.map((rank) => [el("line", { x1: at(rank), x2: at(rank), y1: at(1), y2: at(R), class: "grid" }), el("line", { x1: at(1), x2: at(R), y1: at(rank), y2: at(rank), class: "grid" }), label(at(rank), 18, rank, { "text-anchor": "middle" }), label(left - 6, at(rank) + 4, rank, { "text-anchor": "end" })]),
      el("line", { x1: at(1), y1: at(1), x2: at(R), y2: at(R), class: "zero" }),
      all(R).map((run) => {
        const [x, y] = [at(ranks[from][run]), at(ranks[to][run])];
        const side = moved[run] > 0 ? "a" : "b";
        const shown = named.has(run);
        const lines = tipped(D.runs[run], `${D.measures[from]}: rank ${ranks[from][run]}, ${D.measures[to]}: rank ${ranks[to][run]}`);
        const end = x > size * 0.7;
        return el("g", { class: "hit", onclick: () => openRun(run), ...lines },
          shown && el("line", { x1: x, x2: x, y1: x, y2: y, class: `stem-${side}` }),
          el("circle", { cx: x, cy: y, r: shown ? 4 : 2.8, class: shown ? `fill-${side}` : "fill-grey" }),
          (run === S.a || run === S.b) && el("circle", { cx: x, cy: y, r: 7, class: run === S.a ? "ring-a" : "ring-b" }),
          shown && label(end ? x - 7 : x + 7, free(x, y + 4, (end ? -6 : 6) * D.runs[run].length), D.runs[run], { "text-anchor": end ? "end" : "start" }));
      }),
    );
  }
  function slopes() {
    const runs = all(R);
    const longest = narrow() ? 16 : 60;
    const named = (run) => (D.runs[run].length > longest ? `${D.runs[run].slice(0, longest - 1)}\u2026` : D.runs[run]);
    const right = 8 + 6.4 * Math.max(...runs.map((run) => named(run).length));
    const [height, left] = [Math.max(150, Math.min(15 * R + 40, 480)), 30];
    const width = narrow() ? 360 : left + right + Math.max(200, 78 * (M - 1));
    const x = (m) => left + ((width - left - right) * m) / (M - 1);
    const y = (rank) => 26 + ((height - 40) * (rank - 1)) / Math.max(1, R - 1);
    let last = -99;
    const ends = new Map([...runs].sort((one, other) => ranks[M - 1][one] - ranks[M - 1][other]).map((run) => [run, (last = Math.max(last + 11, y(ranks[M - 1][run])))]));
    return picture(
      width, height, "Ranks of runs by each measure",
      all(M).map((m) => [el("line", { x1: x(m), x2: x(m), y1: 20, y2: height - 10, class: "grid" }), label(x(m), 12, D.measures[m].length > 12 ? `${D.measures[m].slice(0, 11)}\u2026` : D.measures[m], { "text-anchor": "middle" })]),
      [1, R].map((rank) => label(left - 6, y(rank) + 4, rank, { "text-anchor": "end" })),
      runs.map((run) => {
        const side = run === S.a ? "a" : run === S.b ? "b" : "grey";
        return el("g", { class: "hit", ...tipped(D.runs[run]), onclick: () => openRun(run) },
          el("path", { d: all(M).map((m) => `${m ? "L" : "M"}${x(m)} ${y(ranks[m][run])}`).join(""), class: `stroke-${side}` }),
          all(M).map((m) => el("circle", { cx: x(m), cy: y(ranks[m][run]), r: 2.6, class: `fill-${side}` })),
          label(x(M - 1) + 7, ends.get(run) + 4, named(run), { class: `text-${side}` }));
      }),
    );
  }

  // ---------------------------------------------------------------- one topic

  function drawTopic() {
    const { m, t, a, b } = S;
    const step = (by) => button(by < 0 ? "\u2190" : "\u2192", () => set({ t: (t + by + T) % T }), { "aria-label": by < 0 ? "Previous topic" : "Next topic" });
    const scores = D.scores[m].map((of) => of[t]);
    const top = order(scores)[0];
    const lists = D.lists;
    const head = facts(
      lists && ["Judged documents", D.lists.judged[t].map(([level, count], at) => `${at ? ", " : ""}${count} of level ${level}`).join("") || "none"],
      ["Mean of all runs", fixed(mean(scores))], ["Best run", link(D.runs[top], () => openRun(top)), ` ${fixed(scores[top])}`],
    );
    fill(
      "topic", el("h2", { class: "verdict" }, "Topic ", el("span", { class: "id" }, D.topics[t]), D.queries?.[t] ? `: ${D.queries[t]}` : "", el("span", { class: "steps" }, step(-1), step(1))), head,
      el("figure", {}, el("figcaption", {}, el("b", {}, `${D.measures[m]} of all runs on this topic`)), dots(scores)),
      lists ? [rankings(), strips(scores), asTable()] : el("p", { class: "key" }, "Ranked lists are not in this page: it was made from scores, or is too large for them."),
    );
  }
  function dots(scores) {
    const [width, left] = [narrow() ? 360 : 1040, 10];
    const high = Math.max(...scores, 1e-9);
    const x = (value) => left + ((width - 2 * left) * value) / high;
    const columns = new Map();
    const placed = order(scores).map((run) => {
      const column = Math.round(x(scores[run]) / 7);
      columns.set(column, (columns.get(column) ?? 0) + 1);
      return [run, column * 7, columns.get(column)];
    });
    const tallest = Math.max(...columns.values());
    const gap = Math.min(7, 110 / tallest);
    const height = 44 + gap * tallest;
    const base = height - 18;
    return picture(
      width, height, `Scores of ${R} runs`, el("line", { x1: left, x2: width - left, y1: base, y2: base, class: "zero" }),
      ticks(0, high, 6).map((value) => label(x(value), base + 14, tick(value), { "text-anchor": "middle" })),
      placed.map(([run, cx, row]) => el("circle", { cx, cy: base - gap * row + gap / 2, r: 2.6, class: `hit ${run === S.a ? "fill-a" : run === S.b ? "fill-b" : "fill-grey"}`, onclick: () => set({ a: run }), ...tipped(D.runs[run], fixed(scores[run], 4)) })),
      [[S.a, "a"], [S.b, "b"]].map(([run, side]) => [el("line", { x1: x(scores[run]), x2: x(scores[run]), y1: 16, y2: base, class: `stem-${side}` }), label(Math.min(width - 50, Math.max(40, x(scores[run]) + (scores[S.a] >= scores[S.b] === (side === "a") ? 4 : -4))), 12, `${side.toUpperCase()} ${fixed(scores[run])}`, { class: `text-${side}`, "text-anchor": scores[S.a] >= scores[S.b] === (side === "a") ? "start" : "end" })]),
    );
  }
  // The first documents of a run: id, level (null if unjudged) and what each adds to the score.
  function listOf(run) {
    const of = D.lists.rows[run]?.[S.t];
    if (!of) return null;
    return of.map((doc, at) => documentOf(doc, D.lists.adds ? D.lists.adds[run][S.t][at] : null));
  }
  function documentOf(doc, adds) {
    const level = D.lists.level[S.t][doc];
    return { id: D.lists.docs[S.t][doc], doc, level: level < 0 ? null : D.lists.levels[level], place: level, adds };
  }
  // The best relevant documents that a list lacks, and how many it lacks.
  function missed(list, run) {
    const [rel, best, ranks, judged] = [D.lists.rel, D.lists.best, D.lists.ranks, D.lists.judged];
    const own = new Set(list.map((entry) => entry.doc));
    const relevant = judged[S.t].reduce((sum, [level, count]) => sum + (level >= rel ? count : 0), 0);
    const number = relevant - list.filter((entry) => entry.level >= rel).length;
    const of = ranks[run][S.t];
    const shade = shades();
    const entries = best[S.t].filter((doc) => !own.has(doc)).slice(0, of.length).map((doc) => documentOf(doc, null));
    return [
      el("span", {}, `Missed: ${number} of ${relevant} documents of level ${rel} or higher`),
      entries.map((entry, at) => el("span", tipped(`${entry.id}, ${levelName(entry)}`, D.texts?.[entry.id] ?? ""), el("i", { class: `square ${shade(entry)}` }), ` ${entry.id} ${of[at] ? `rank ${of[at]}` : "not retrieved"}`)),
      number > entries.length ? el("span", {}, `and ${number - entries.length} more`) : null,
    ];
  }
  const shades = () => {
    const positive = D.lists.levels.filter((level) => level > 0).length;
    return (entry) => (entry.level === null ? "unjudged" : entry.level <= 0 ? "l0" : `l${Math.max(1, Math.round((4 * (entry.place + 1 - (D.lists.levels.length - positive))) / positive))}`);
  };
  const levelName = (entry) => (entry.level === null ? "unjudged" : `level ${entry.level}`);
  function rankings() {
    const [first, second] = [listOf(S.a), listOf(S.b)];
    if (!first || !second) return el("p", { class: "key" }, "The page has no lists for one of these runs; it keeps those of the best runs, the baseline, and as many others as fit.");
    const shade = shades();
    const place = new Map(second.map((entry, at) => [entry.doc, at]));
    const common = first.filter((entry) => place.has(entry.doc)).length;
    const small = narrow();
    const [row, width, gap, longest] = small ? [30, 360, 34, 14] : [22, 1040, 130, 22];
    const n = Math.max(first.length, second.length);
    const [xa, xb] = [width / 2 - gap, width / 2 + gap];
    const largest = Math.max(...[...first, ...second].map((entry) => Math.abs(entry.adds ?? 0)), 1e-12);
    // Bars are beside the ids, or below them on a phone.
    const short = (id) => (id.length > longest ? `${id.slice(0, longest - 1)}\u2026` : id);
    const ids = 48 + 6.8 * Math.max(...[...first, ...second].map((entry) => short(entry.id).length));
    const [start, room] = small ? [32, xa - 36] : [ids, Math.min(180, xa - ids - 46)];
    const own = new Set(first.map((entry) => entry.doc));
    const entries = (list, x, side, other) => list.map((entry, at) => {
      const y = 12 + row * at;
      const sign = side === "a" ? -1 : 1;
      const [anchor, bar] = [side === "a" ? "end" : "start", (room * Math.abs(entry.adds ?? 0)) / largest];
      const text = D.texts?.[entry.id];
      const lines = tipped(`${entry.id}, rank ${at + 1}, ${levelName(entry)}`, known(entry.adds) ? `adds ${fixed(entry.adds, 4)} to ${D.measures[0]}` : "", text ?? "");
      return el("g", { class: "hit", ...lines },
        el("rect", { x: x - 7, y: y - 7, width: 14, height: 14, rx: 2, class: `level ${shade(entry)}` }),
        label(x + sign * 16, y + 4, at + 1, { "text-anchor": anchor }),
        label(x + sign * (small ? 32 : 40), y + 4, short(entry.id), { "text-anchor": anchor, class: other.has(entry.doc) ? "doc" : "doc only" }),
        entry.adds ? [el("rect", { x: side === "a" ? x - start - bar : x + start, y: small ? y + 9 : y - 5, width: bar, height: small ? 4 : 10, class: `adds-${side}` }), !small && label(x + sign * (start + 5 + bar), y + 4, fixed(entry.adds), { "text-anchor": anchor })] : null);
    });
    const lines = first.flatMap((entry, at) => {
      if (!place.has(entry.doc)) return [];
      const [y1, y2] = [12 + row * at, 12 + row * place.get(entry.doc)];
      return [el("path", { d: `M${xa + 9} ${y1}C${width / 2} ${y1} ${width / 2} ${y2} ${xb - 9} ${y2}`, class: entry.level > 0 ? "tie relevant" : "tie" })];
    });
    const sum = (list, run) => {
      const counts = new Map();
      for (const entry of list) counts.set(levelName(entry), (counts.get(levelName(entry)) ?? 0) + 1);
      const total = list.reduce((all, entry) => all + (entry.adds ?? 0), 0);
      const score = D.scores[0][run][S.t];
      const parts = known(list[0]?.adds) ? `${D.measures[0]} ${fixed(score)} = ${fixed(total)} in the first ${list.length} + ${fixed(score - total)} below` : `${D.measures[S.m]} ${fixed(D.scores[S.m][run][S.t])}`;
      return [el("b", { class: run === S.a ? "of-a" : "of-b" }, D.runs[run]), el("span", {}, parts), el("span", {}, [...counts].sort().reverse().map(([name, count]) => `${count} \u00d7 ${name}`).join(", "))];
    };
    return el("div", { class: "lists" },
      el("div", { class: "heads" }, el("p", {}, sum(first, S.a)), el("p", {}, `${common} of ${n} documents in both`), el("p", {}, sum(second, S.b))),
      picture(width, row * n + 8, `First ${n} documents of ${D.runs[S.a]} and ${D.runs[S.b]}; the table below has them`, hatch(), lines, entries(first, xa, "a", place), entries(second, xb, "b", { has: (doc) => own.has(doc) })),
      el("div", { class: "heads missed" }, el("p", {}, missed(first, S.a)), el("p", {}, `below rank ${D.lists.depth} or not retrieved, best first`), el("p", {}, missed(second, S.b))),
      levelKey());
  }
  const hatch = () => el("pattern", { id: "hatch", width: 3, height: 3, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, el("line", { x1: 0.5, x2: 0.5, y1: 0, y2: 3, class: "hatch" }));
  const levelKey = () => {
    const shade = shades();
    return el("p", { class: "key legend" }, D.lists.levels.map((level, place) => el("span", {}, el("i", { class: `square ${shade({ level, place })}` }), ` level ${level}`)).reverse(), el("span", {}, el("i", { class: "square unjudged" }), " unjudged"), D.lists.adds && el("span", {}, `Bar: what the document adds to ${D.measures[0]}`), el("span", {}, "Grey id: not in the other list"));
  };
  function strips(scores) {
    const shade = shades();
    const chosen = [...new Set([S.a, S.b, ...S.pins, ...order(scores).slice(0, 10)])].filter((run) => listOf(run)).sort((x, y) => scores[y] - scores[x]);
    const box = (table) => el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "First documents of several runs" }, table);
    return box(el("table", { class: "plain strips" }, el("caption", {}, "A, B, pinned runs and the ten best on this topic"),
      el("thead", {}, el("tr", {}, ["Run", D.measures[S.m], "first documents"].map((one) => el("th", { scope: "col" }, one)))),
      el("tbody", {}, chosen.map((run) => el("tr", {}, el("th", { scope: "row" }, runName(run)), el("td", {}, fixed(scores[run])), el("td", {}, listOf(run).map((entry, at) => el("i", { class: `square ${shade(entry)}`, ...tipped(`${entry.id}, rank ${at + 1}, ${levelName(entry)}`) })), el("span", { class: "unseen" }, listOf(run).map(levelName).join(", "))))))));
  }
  function asTable() {
    const [first, second] = [listOf(S.a) ?? [], listOf(S.b) ?? []];
    const cells = (entry) => [entry?.id ?? "", entry ? levelName(entry) : "", entry && known(entry.adds) ? fixed(entry.adds, 4) : "", ...(D.texts ? [D.texts[entry?.id] ?? ""] : [])];
    const heads = (which) => [`${which}: document`, "level", "adds", ...(D.texts ? ["text"] : [])];
    return el("details", {}, el("summary", {}, "The two lists as a table"),
      el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "The two lists as a table" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["rank", ...heads("A"), ...heads("B")].map((one) => el("th", { scope: "col" }, one)))),
        el("tbody", {}, all(Math.max(first.length, second.length)).map((at) => el("tr", {}, el("th", { scope: "row" }, String(at + 1)), [...cells(first[at]), ...cells(second[at])].map((one) => el("td", {}, one))))))));
  }

  // ---------------------------------------------------------------- parts of the page without a view

  const command = byId("command");
  command.after(button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      say("Copied");
    } catch {
      getSelection().selectAllChildren(command);
      say("Selected: copy it with the keyboard");
    }
  }));

  // Each header becomes a button that sorts: numbers largest first, words from A; then the other way.
  for (const table of document.querySelectorAll("table.sortable")) {
    const words = new Intl.Collator("en", { numeric: true });
    const content = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
    const sort = (head, at) => {
      const [first, second] = head.dataset.kind === "number" ? ["descending", "ascending"] : ["ascending", "descending"];
      const direction = head.getAttribute("aria-sort") === first ? second : first;
      const sign = direction === "ascending" ? 1 : -1;
      const compare = (a, b) => (head.dataset.kind === "number" ? Number(a) - Number(b) : words.compare(a, b));
      const rows = [...table.tBodies[0].rows].map((row) => [content(row, at), row]);
      // What is missing stays last, whichever way.
      rows.sort(([a], [b]) => (a === "") - (b === "") || sign * compare(a, b));
      table.tBodies[0].append(...rows.map(([, row]) => row));
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      say(`Sorted by ${head.textContent.trim()}, ${direction}`);
    };
    [...table.tHead.rows[0].cells].forEach((head, at) => head.replaceChildren(button(head.textContent, () => sort(head, at))));
  }

  // ---------------------------------------------------------------- all views

  const drawn = { runs: () => { drawAnswers(); drawRuns(); }, compare: drawCompare, topics: drawTopics, measures: drawMeasures, topic: drawTopic };
  function draw() {
    hideTip();
    drawHead();
    if (printing) for (const view of views) drawn[view]?.();
    else drawn[S.view]?.();
  }
  for (const name of ["hashchange", "popstate"]) addEventListener(name, () => { restore(); shownBefore = { view: S.view, t: S.t }; draw(); });
  addEventListener("resize", () => { if (S.view === "topics") repaint(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => { printing = true; draw(); });
  addEventListener("afterprint", () => { printing = false; draw(); });
  byId("tabs").addEventListener("click", (event) => {
    const tab = event.target.closest("a");
    if (!tab) return;
    event.preventDefault();
    set({ view: tab.hash.slice(1) });
    scrollTo(0, 0);
  });
  document.body.append(el("datalist", { id: "names" }, D.runs.map((name) => el("option", { value: name }))));
  document.documentElement.classList.add("js");
  document.documentElement.classList.toggle("queries", Boolean(D.queries));
  const linked = location.hash !== "";
  restore();
  shownBefore = { view: S.view, t: S.t };
  draw();
  // The browser scrolls to the section of a linked view, which would hide the bar.
  if (linked) scrollTo(0, 0);
})();
