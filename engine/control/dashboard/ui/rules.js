// Rules of single hosts, URLs to add, and settings of the running crawl.
import { h, tell, confirm } from './dom.js'
import { act, get } from './api.js'
import { count } from './format.js'
import { table } from './table.js'

export function rules() {
  const list = table({
    caption: 'Rules of single hosts', key: (r) => r.source + ' ' + r.rule, empty: 'No host has a rule of its own.',
    columns: [{ title: 'Rule', text: (r) => r.rule, class: 'mono' }, { title: 'From', text: (r) => r.source }],
  })

  const settings = table({
    caption: 'Settings that can be changed', key: (s) => s.name, empty: 'The crawl has not told its settings yet.',
    columns: [{ title: 'Setting', text: (s) => s.name, class: 'mono' }, { title: 'Value', text: (s) => s.value, class: 'mono' },
      { title: 'Default', text: (s) => s.default, class: 'mono' }, { title: 'Meaning', text: (s) => s.help }],
  })
  const changes = table({
    caption: 'Last changes of settings', keepsOrder: true, key: (c) => c.change + c.setting, empty: 'No setting was changed.',
    columns: [{ title: 'Change', text: (c) => String(c.change) }, { title: 'Time', text: (c) => c.time }, { title: 'By', text: (c) => c.by },
      { title: 'Setting', text: (c) => c.setting, class: 'mono' }, { title: 'From', text: (c) => c.from, class: 'mono' },
      { title: 'To', text: (c) => c.to, class: 'mono' },
      { title: 'Note', text: (c) => (c.undoes ? `undoes ${c.undoes} ` : '') + (c.why || '') }],
  })

  async function load() {
    try {
      const s = await get('/settings')
      settings.update(s.settings)
      changes.update((s.changes || []).slice().reverse())
      const r = await get('/rules')
      list.update([...(r.live || []).map((rule) => ({ rule, source: 'operator' })),
        ...(r.fixed || []).map((rule) => ({ rule, source: '--host-rules' }))])
    } catch (e) {
      tell(e.message, true)
    }
  }

  load()
  const element = h('div', {},
    h('h1', {}, 'Steer the crawl'),
    h('div', { class: 'forms' },
      form('Add URLs', 'add', 'One URL on each line. They are treated as seeds.', 'https://example.org/new/', 'Add', load),
      form('Block hosts', 'block', 'One host on each line: host, .suffix or *.suffix. No request is sent to them any more.', '.example.com', 'Block', load, (line) => match(line + ' exclude')),
      form('Give hosts a rule', 'rule', 'One rule on each line: a host and its terms.', '.example.com host-delay=20s max-per-host=1000', 'Give', load, match),
      form('Change settings', 'set', 'One setting on each line. They are kept for a resume.', 'host-delay=10s', 'Set', load, null, change)),
    h('section', {}, list.element),
    h('section', {}, settings.element),
    h('section', {}, changes.element,
      h('div', { class: 'row' }, h('button', { type: 'button', onclick: undo }, 'Undo the last change'))))
  return { element, update() {} }

  async function undo() {
    try {
      const said = await ask('undo', '')
      if (said) tell(said)
    } catch (e) {
      tell(e.message, true)
    }
    load()
  }
}

// change changes settings. Nothing is changed if a value is wrong.
function change(body) { return ask('set', body) }

// ask shows what a change of settings would do, and does it if that is confirmed.
async function ask(action, body) {
  const would = await act(action + '?dry-run=true', body)
  if (!await confirm(would, 'Change')) return ''
  return act(action + '?yes=true', body)
}

// match says which sites a rule is for, without giving it, and whether the crawl would take it.
async function match(rule) {
  const m = await get('/match?rule=' + encodeURIComponent(rule))
  const said = [h('p', {}, `${m.rule}: ${count(m.sites)} sites are known, with ${count(m.queued)} URLs queued.` +
    (m.on_disk ? ` ${count(m.on_disk)} idle sites on disk are not compared.` : ''))]
  if (m.largest) said.push(h('p', { class: 'quiet' }, 'The longest queues: ' + m.largest.join(', ')))
  if (m.fault) said.push(h('p', { class: 'fault' }, 'Refused: ' + m.fault))
  return said
}

function form(title, action, help, example, verb, done, dryRun, send = (body) => act(action, body)) {
  const id = 'form-' + action
  const field = h('textarea', { id, rows: '3', placeholder: example, 'aria-describedby': id + '-help', spellcheck: 'false' })
  const go = h('button', { class: 'strong' }, verb)
  const result = h('div', { class: 'quiet', role: 'status' })
  const lines = () => field.value.split('\n').map((l) => l.trim()).filter((l) => l && !l.startsWith('#'))
  const attempt = dryRun && h('button', { type: 'button', onclick: tryOut, 'aria-label': 'Dry run: ' + title }, 'Dry run')
  const f = h('form', {}, h('label', { for: id }, title), field, h('p', { class: 'quiet', id: id + '-help' }, help),
    h('div', { class: 'row' }, go, attempt), result)

  async function tryOut() {
    if (lines().length === 0) return field.focus()
    result.replaceChildren()
    for (const line of lines().slice(0, 20)) {
      try {
        result.append(...await dryRun(line))
      } catch (e) {
        result.append(h('p', { class: 'fault' }, e.message))
      }
    }
  }

  f.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (lines().length === 0) return field.focus()
    go.disabled = true
    try {
      const said = await send(field.value)
      if (said) {
        tell(said)
        field.value = ''
        result.replaceChildren()
      }
    } catch (e) {
      tell(e.message, true)
    }
    go.disabled = false
    done()
  })
  return f
}
