// Rules of single hosts, and URLs to add.
import { h, tell } from './dom.js'
import { act, get } from './api.js'
import { counted } from './format.js'
import { table } from './table.js'

export function rules() {
  const list = table({
    caption: 'Rules of single hosts', key: (r) => r.source + ' ' + r.rule, empty: 'No host has a rule of its own.',
    columns: [{ title: 'Rule', text: (r) => r.rule, class: 'mono' }, { title: 'From', text: (r) => r.source }],
  })

  async function load() {
    try {
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
      form('Give hosts a rule', 'rule', 'One rule on each line: a host and its terms.', '.example.com host-delay=20s max-per-host=1000', 'Save rules', load, match)),
    h('section', {}, list.element))
  return { element, update() {} }
}

// match says which sites a rule is for, without giving it, and whether the crawl would take it.
async function match(rule) {
  const m = await get('/match?rule=' + encodeURIComponent(rule))
  const said = [h('p', {}, `${m.rule}: ${counted(m.sites, 'site is', 'sites are')} known, with ${counted(m.queued, 'URL', 'URLs')} queued.` +
    (m.on_disk ? ` ${counted(m.on_disk, 'idle site on disk is', 'idle sites on disk are')} not compared.` : ''))]
  if (m.largest) said.push(h('p', { class: 'quiet' }, 'The longest queues: ' + m.largest.join(', ')))
  if (m.fault) said.push(h('p', { class: 'fault' }, 'Refused: ' + m.fault))
  return said
}

function form(title, action, help, example, verb, done, dryRun) {
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
      const said = await act(action, field.value)
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
