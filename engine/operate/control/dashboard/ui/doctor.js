// What limits the crawl, the strongest first, each with what to do about it.
import { h } from './dom.js'
import { isAlike, parts } from './format.js'
import { poll } from './poll.js'

export function doctor() {
  const list = h('ol', { class: 'doctor', 'data-name': 'diagnoses', 'aria-label': 'What limits the crawl, the strongest first' })
  let seen = '', headline = '', last = { diagnoses: [] }

  function show() {
    const text = JSON.stringify([last, headline])
    if (text === seen) return
    seen = text
    list.replaceChildren(...(last.diagnoses || []).map((d) => h('li', { 'data-cause': d.cause },
      h('strong', {}, isAlike(parts(d.text)[0], headline) ? headline : d.text),
      d.cause === 'nothing' ? null : h('p', {}, h('span', { class: 'quiet' }, 'To do: '), d.remedy),
      d.if_lifted ? h('p', { class: 'quiet' }, (d.cause === 'nothing' ? '' : 'Without it: ') + d.if_lifted) : null)))
  }

  const p = poll(() => '/doctor', 5000, (answer) => { last = answer; show() }, () => {})
  return {
    element: list,
    // update tells what the headline of the page says already.
    update(said) { headline = said; show() },
    close: p.close,
  }
}
