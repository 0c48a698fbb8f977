// The reports of a crawl that has ended, as they are in its directory.
import { h, say } from './dom.js'
import { get } from './api.js'
import { table } from './table.js'
import { bytes, count, counted } from './format.js'

const titles = {
  hosts: 'Hosts', status: 'Status codes', mime: 'Media types', depth: 'Links from a seed', seeds: 'Seeds that were not fetched',
  errors: 'URLs without a usable answer', tls: 'Faults of certificates and TLS', requisites: 'Images, style sheets and scripts that pages lack',
}

export function reports() {
  const note = h('p', { class: 'quiet', role: 'status' }, '…')
  const box = h('div', {})

  async function load() {
    try {
      const found = (await get('/reports')).reports || []
      const shown = found.filter((r) => r.all > 0)
      say(note, shown.length ? 'The whole reports are in reports/ of the crawl directory, with a page to keep: reports/index.html.'
        : 'The crawl has no reports: its run has not ended in order. orbweaver report makes them.')
      box.replaceChildren(...shown.map(one))
    } catch (e) {
      say(note, e.message)
    }
  }

  load()
  return { element: h('div', {}, h('h1', {}, 'Reports'), note, box), update() {} }
}

// titleOf is the title of a column.
function titleOf(name) {
  const text = name.replaceAll('_', ' ').replace('urls', 'URLs')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

// textOf is a field of a report. A status below 1 is that of crawl.log without a response.
function textOf(name, text) {
  return name === 'status' && Number(text) < 1 ? `no response (${text})` : text === '-' ? '' : text
}

// one is a report: its first rows, and how many there are.
function one(r) {
  if (r.report === 'depth') r.rows.sort((a, b) => a[0] - b[0])
  const form = (name) => (name === 'bytes' ? bytes : count)
  const t = table({
    caption: titles[r.report] || r.report, key: (row) => r.rows.indexOf(row), keepsOrder: true,
    empty: r.report === 'seeds' ? 'All seeds were fetched.' : 'Nothing.',
    columns: r.columns.map((name, i) => {
      const isNumber = i >= r.first_number && name !== 'example' && r.report !== 'seeds' && r.columns[i] !== 'requisite'
      return isNumber
        ? { title: titleOf(name), number: true, text: (row) => form(name)(Number(row[i])), value: (row) => Number(row[i]) }
        : { title: titleOf(name), text: (row) => textOf(name, row[i]), class: /^(seed|page|requisite|example|redirected_to)$/.test(name) ? 'name' : '' }
    }),
  })
  t.update(r.rows)
  const more = r.report === 'seeds' ? `${count(r.fetched)} of ${counted(r.all, 'seed is', 'seeds are')} ok.`
    : r.all > r.rows.length ? `${count(r.rows.length)} of ${count(r.all)} rows: see reports/${r.report}.tsv.` : ''
  return h('section', { 'data-name': 'report.' + r.report }, t.element, h('p', { class: 'quiet' }, more))
}
