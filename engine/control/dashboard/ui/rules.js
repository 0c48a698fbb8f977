// Rules of single hosts, URLs to add, and settings of the running crawl.
import { h, tell } from './dom.js'
import { act, get } from './api.js'
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
      form('Block hosts', 'block', 'One host on each line: host, .suffix or *.suffix. No request is sent to them any more.', '.example.com', 'Block', load),
      form('Give hosts a rule', 'rule', 'One rule on each line: a host and its terms.', '.example.com host-delay=20s max-per-host=1000', 'Give', load),
      form('Change a setting', 'set', 'One setting on each line. It holds until the crawl ends or stops.', 'host-delay=10s', 'Set', load)),
    h('section', {}, list.element))
  return { element, update() {} }
}

function form(title, action, help, example, verb, done) {
  const id = 'form-' + action
  const field = h('textarea', { id, rows: '3', placeholder: example, 'aria-describedby': id + '-help', spellcheck: 'false' })
  const send = h('button', { class: 'strong' }, verb)
  const f = h('form', {}, h('label', { for: id }, title), field, h('p', { class: 'quiet', id: id + '-help' }, help), send)
  f.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (!field.value.trim()) return field.focus()
    send.disabled = true
    try {
      tell(await act(action, field.value))
      field.value = ''
    } catch (e) {
      tell(e.message, true)
    }
    send.disabled = false
    done()
  })
  return f
}
