// The agents that share the crawl.
import { h } from './dom.js'
import { table } from './table.js'
import { count } from './format.js'

export function agents() {
  const list = table({
    caption: 'Agents', key: (a) => a.id, empty: 'This crawl has one agent.',
    columns: [
      { title: 'Agent', text: (a) => a.id }, { title: 'State', text: (a) => a.state },
      { title: 'Share', number: true, text: (a) => (100 * (a.share || 0)).toFixed(1) + ' %', value: (a) => a.share || 0 },
      { title: 'URLs waiting', number: true, text: (a) => count(a.urls_waiting || 0), value: (a) => a.urls_waiting || 0 },
    ],
  })
  return {
    element: h('div', {}, h('h1', {}, 'Agents'), list.element),
    update(now) { list.update((now.report.cluster && now.report.cluster.agents) || []) },
  }
}
