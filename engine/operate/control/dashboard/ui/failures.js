// The last requests that failed.
import { h } from './dom.js'
import { poll } from './poll.js'
import { table } from './table.js'

export function failures() {
  const t = table({
    caption: 'Last failures', key: (f) => f.time + ' ' + f.url, keepsOrder: true, empty: 'None in the end of crawl.log.',
    columns: [
      { title: 'Time', text: (f) => f.time.slice(11, 19), class: 'time' }, { title: 'Outcome', text: (f) => f.outcome },
      { title: 'Status', number: true, text: (f) => (f.status > 0 ? String(f.status) : '–'), value: (f) => f.status },
      { title: 'Tried again', text: (f) => (f.final ? 'no' : 'yes') },
      { title: 'URL', text: (f) => f.url + (f.page ? ', on ' + f.page : ''), class: 'name' },
    ],
  })
  t.element.dataset.name = 'failures'
  const p = poll(() => '/failures?limit=12', 10000, (answer) => t.update(answer.failures || []), () => {})
  return { element: h('section', {}, t.element), close: p.close }
}
