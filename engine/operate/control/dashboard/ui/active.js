// The exchanges under way.
import { h, say } from './dom.js'
import { poll } from './poll.js'
import { table } from './table.js'
import { byteRate, bytesOf, count, seconds } from './format.js'

// rateOf is the bytes a second of an exchange since it began.
function rateOf(x) { return x.received_bytes / Math.max(x.age_seconds, 1) }

export function active() {
  const note = h('p', { class: 'quiet', role: 'status' }, '')
  const age = { title: 'Age', number: true, text: (x) => seconds(x.age_seconds), value: (x) => x.age_seconds }
  const t = table({
    caption: 'Exchanges under way', isTitled: true, key: (x) => x.worker, most: 300, order: { column: age, down: true }, empty: 'None at this moment.',
    columns: [
      { title: 'URL', text: (x) => x.url + (x.url_truncated ? '…' : ''), class: 'name' }, { title: 'For', text: (x) => x.kind },
      { title: 'Address', text: (x) => x.address || '', class: 'mono' }, age,
      { title: 'Received', number: true, text: (x) => bytesOf(x.received_bytes, x.length_bytes), value: (x) => x.received_bytes },
      { title: 'Rate', number: true, text: (x) => byteRate(rateOf(x)), value: rateOf },
      { title: 'Earlier tries', number: true, text: (x) => count(x.tries), value: (x) => x.tries },
    ],
  })
  const p = poll(() => '/active?limit=300', 2000, (answer) => {
    t.update(answer.exchanges || [])
    say(note, `${count(answer.busy)} of ${count(answer.fetchers)} fetch workers are in an exchange.`)
  }, (fault) => say(note, fault))
  return { element: h('div', {}, h('h1', {}, 'Under way'), note, t.element), update() {}, close: p.close }
}
