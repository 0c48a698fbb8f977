// What limits the crawl, the strongest first, each with what to do about it.
import { h } from './dom.js'
import { poll } from './poll.js'

export function doctor() {
  const list = h('ol', { class: 'doctor', 'data-name': 'diagnoses', 'aria-label': 'What limits the crawl, the strongest first' })
  let seen = ''

  function show(answer) {
    const text = JSON.stringify(answer)
    if (text === seen) return
    seen = text
    list.replaceChildren(...(answer.diagnoses || []).map((d) => h('li', { 'data-cause': d.cause },
      h('strong', {}, d.text),
      d.cause === 'nothing' ? null : h('p', {}, h('span', { class: 'quiet' }, 'To do: '), d.remedy),
      d.if_lifted ? h('p', { class: 'quiet' }, (d.cause === 'nothing' ? '' : 'Without it: ') + d.if_lifted) : null)))
  }

  const p = poll(() => '/doctor', 5000, show, () => {})
  return { element: list, close: p.close }
}
