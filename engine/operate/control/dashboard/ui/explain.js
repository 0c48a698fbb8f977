// What the crawl knows of one URL.
import { h } from './dom.js'
import { get } from './api.js'
import { table } from './table.js'
import { bytes, count, seconds } from './format.js'

export function explain([url]) {
  const box = explainBox(url || '')
  if (url) box.ask()
  return { element: h('div', {}, h('h1', {}, 'Explain a URL'), box.element), update() {} }
}

// explainBox is a field for a URL with the answer below it.
export function explainBox(first) {
  const field = h('input', { id: 'url', type: 'text', value: first, spellcheck: 'false', autocomplete: 'off' })
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' })
  const form = h('form', {}, h('label', { for: 'url' }, 'What about this URL?'),
    h('div', { class: 'asking' }, field, h('button', { class: 'strong' }, 'Explain')))

  async function ask() {
    answer.replaceChildren(h('p', { class: 'quiet' }, '…'))
    try {
      answer.replaceChildren(...show(await get('/explain?url=' + encodeURIComponent(field.value.trim()))))
    } catch (e) {
      answer.replaceChildren(h('p', { class: 'fault' }, e.message))
    }
  }

  form.addEventListener('submit', (event) => { event.preventDefault(); ask() })
  return { element: h('div', {}, form, answer), ask }
}

// show shows the verdict, then the lists, then all else as it came.
function show(answer) {
  const { verdict, attempts, captures, ...rest } = answer
  return [
    h('p', { class: 'waiting' }, verdict || ''),
    listOf('Attempts, the last first', attempts, [
      { title: 'Time', text: (a) => a.time }, { title: 'Outcome', text: (a) => a.outcome },
      { title: 'Status', number: true, text: (a) => (a.status > 0 ? String(a.status) : '–'), value: (a) => a.status },
      { title: 'Size', number: true, text: (a) => (a.size >= 0 ? bytes(a.size) : '–'), value: (a) => a.size },
      { title: 'Took', number: true, text: (a) => seconds(a.seconds), value: (a) => a.seconds },
      { title: 'Final', text: (a) => (a.final ? 'yes' : '') },
    ]),
    listOf('In the archive, the last first', captures, [
      { title: 'Time', text: (c) => c.time }, { title: 'Status', number: true, text: (c) => String(c.status), value: (c) => c.status },
      { title: 'Record', text: (c) => (c.revisit ? 'revisit' : 'response') }, { title: 'File', text: (c) => c.file, class: 'name' },
      { title: 'Offset', number: true, text: (c) => count(c.offset), value: (c) => c.offset },
      { title: 'Length', number: true, text: (c) => bytes(c.length), value: (c) => c.length },
    ]),
    h('section', {}, h('h2', {}, 'All that is known'), tree(rest)),
  ].filter((e) => e)
}

function listOf(caption, rows, columns) {
  if (!rows || rows.length === 0) return null
  const t = table({ caption, columns, keepsOrder: true, key: (r) => rows.indexOf(r) })
  t.update(rows)
  return h('section', {}, t.element)
}

// tree shows a value as it came: names and values, nested.
function tree(value) {
  if (Array.isArray(value)) return h('ol', {}, value.map((v) => h('li', {}, tree(v))))
  if (value !== null && typeof value === 'object') {
    return h('dl', { class: 'tree' }, Object.entries(value).map(([k, v]) =>
      h('div', {}, h('dt', {}, k.replaceAll('_', ' ')), h('dd', {}, tree(v)))))
  }
  return h('span', {}, String(value))
}
