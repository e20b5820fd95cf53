// Talking to the server: one act after the other, each with the revision that was seen.

const browser = Math.random().toString(36).slice(2);
let queue = Promise.resolve();

async function ask(path) {
  try {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
    alarm("");
    return await answer.json();
  } catch (error) {
    alarm(`The server cannot be asked (${error.message}). What was said to be kept is kept; start it `
      + "again and open the address it prints.");
    return null;
  }
}

function post(path, content) {
  return fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content),
  });
}

/** Do something to the case that is shown. Says whether it is kept. */
function act(what) {
  const who = element("who").value.trim();
  if (!who) {
    say("Say who you are first.");
    element("who").focus();
    return Promise.resolve(false);
  }
  const { place } = state;
  const done = queue.then(() => send(place, { ...what, who, why: element("why").value }));
  queue = done.catch(() => {});
  return done;
}

async function send(place, asked) {
  let answer;
  let told;
  try {
    answer = await post(`cases/${place}`, { ...asked, revision: nowOf(place).revision });
    told = await answer.json();
  } catch {
    alarm("The server does not answer: this was NOT kept. Start it again and open the address it prints.");
    return false;
  }
  if (answer.ok) {
    alarm("");
    take(place, told.now);
    say(kept(asked, told.now, report.cases[place].name));
    if (asked.act !== "undo" && asked.act !== "paint") element("why").value = "";
    return true;
  }
  if (answer.status === 409) {
    take(place, told.now);
    say(`Not kept: ${told.now.who} was faster. ${standing(told.now)}`);
  } else {
    say(`Not kept: ${told.error}.`);
  }
  if (place === state.place) await show(place);
  return false;
}

function kept(asked, now, name) {
  if (asked.act === "undo") return `${name}: undone. ${standing(now)}`;
  if (asked.act === "paint") return `${name}: kept as a draft.`;
  return `${name}: kept. ${standing(now)}`;
}

/** Take over how a case stands. */
function take(place, now) {
  report.cases[place].now = now;
  markCase(place);
  showProgress();
  if (place === state.place) showStanding();
}

/** Ask what others did and where they are. */
async function news() {
  try {
    const answer = await post("news", {
      since: state.count, place: state.place, who: element("who").value.trim(), browser });
    const told = await answer.json();
    const before = state.here;
    state.count = told.count;
    state.here = told.here;
    for (const { place, now } of told.changed) {
      const isNew = now.revision > nowOf(place).revision;
      if (!isNew) continue;
      take(place, now);
      if (place === state.place) {
        say(`${now.who} has just worked on this case. ${standing(now)}`);
        await showSlice();
        buildTakes();
      }
    }
    showPeople(before);
  } catch {
    // `ask` and `act` tell when the server is gone and it matters.
  }
}
