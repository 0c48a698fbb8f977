// What became of each seed.
import { h, say } from './dom.js'
import { poll } from './poll.js'
import { table } from './table.js'
import { count, counted } from './format.js'

const orders = [['state', 'those that need a look'], ['given', 'as they were given'], ['url', 'by URL'], ['time', 'the last attempt']]
const states = ['failed', 'refused', 'queued', 'other-agent', 'redirected', 'fetched']

export function seeds() {
  const order = h('select', { id: 'seed-order', onchange: () => p.ask() }, orders.map(([v, text]) => h('option', { value: v }, text)))
  const state = h('select', { id: 'seed-state', onchange: () => p.ask() }, h('option', { value: '' }, 'any state'),
    states.map((v) => h('option', { value: v }, v)))
  const suffix = h('input', { id: 'seed-suffix', placeholder: 'example.org', spellcheck: 'false', oninput: () => p.ask() })
  const note = h('p', { class: 'quiet', role: 'status' }, '')
  const counts = h('div', { class: 'chips' })
  const t = table({
    caption: 'Seeds', isTitled: true, key: (s) => s.url, most: 1000, keepsOrder: true, empty: 'No seed matches.',
    columns: [
      { title: 'Seed', text: (s) => s.url, class: 'name' }, { title: 'State', text: (s) => s.state },
      { title: 'Outcome', text: (s) => s.outcome },
      { title: 'Status', number: true, text: (s) => (s.status > 0 ? String(s.status) : '–'), value: (s) => s.status },
      { title: 'Redirects to', text: (s) => s.redirected_to || '', class: 'name' },
      { title: 'Last attempt', text: (s) => (s.time || '').slice(0, 19).replace('T', ' '), class: 'time' },
      { title: 'Waits for', text: (s) => (s.owner ? 'agent ' + s.owner : s.waits_for || ''), class: 'text' },
    ],
  })

  function path() {
    let p = `/seeds?sort=${order.value}&limit=500`
    if (state.value) p += '&state=' + state.value
    if (suffix.value.trim()) p += '&suffix=' + encodeURIComponent(suffix.value.trim())
    return p
  }

  const p = poll(path, 15000, (answer) => {
    const list = answer.seeds || []
    t.update(list)
    const all = Object.values(answer.states || {}).reduce((sum, n) => sum + n, 0)
    counts.replaceChildren(h('span', { class: 'chip' }, counted(all, 'seed', 'seeds')),
      ...states.filter((s) => (answer.states || {})[s]).map((s) => h('span', { class: 'chip', 'data-state': s }, `${count(answer.states[s])} ${s}`)))
    say(note, answer.matching > list.length ? `The first ${count(list.length)} of ${count(answer.matching)} are shown.` : '')
  }, (fault) => say(note, fault))
  return {
    element: h('div', {}, h('h1', {}, 'Seeds'), counts,
      h('div', { class: 'filters' }, h('label', { for: 'seed-order' }, 'First: ', order), h('label', { for: 'seed-state' }, 'State: ', state),
        h('label', { for: 'seed-suffix' }, 'Below: ', suffix)),
      note, t.element),
    update() {},
    close: p.close,
  }
}
