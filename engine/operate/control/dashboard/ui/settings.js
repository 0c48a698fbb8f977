// Settings of the running crawl: what can be changed, what a change would do, and the way back.
import { h, tell, confirm } from './dom.js'
import { act, get } from './api.js'
import { table } from './table.js'

export function settings() {
  const field = h('textarea', { id: 'form-set', rows: '3', placeholder: 'host-delay=10s', 'aria-describedby': 'form-set-help', spellcheck: 'false' })
  const why = h('input', { id: 'why', autocomplete: 'off' })
  const would = h('p', { role: 'status', 'data-name': 'would' }, '')
  const go = h('button', { class: 'strong' }, 'Change')
  const look = h('button', { type: 'button', onclick: () => attempt(async () => would.replaceChildren(await act('set?dry-run=true', field.value))) }, 'Dry run')
  const form = h('form', { class: 'card' }, h('label', { for: 'form-set' }, 'Change settings'), field,
    h('p', { class: 'quiet', id: 'form-set-help' }, 'One on each line: NAME=VALUE. All are changed or none. They are kept for a resume.'),
    h('label', { for: 'why' }, 'Reason, for the log of changes'), why, h('div', { class: 'row' }, go, look), would)
  const back = h('button', { type: 'button', onclick: () => attempt(() => change('undo', '', 'Undo')) }, 'Undo the last change')

  const list = table({
    caption: 'Settings that can be changed', key: (s) => s.name, most: 1000, empty: 'The crawl has not told its settings yet.',
    columns: [
      { title: 'Setting', text: (s) => s.name, class: 'mono' }, { title: 'Value', text: (s) => s.value, class: 'mono' },
      { title: 'Default', text: (s) => s.default, class: 'mono' },
      { title: 'Meaning', text: (s) => s.help + (s.words ? ` One of ${s.words.split(',').join(', ')}.` : '') },
      { title: '', text: () => '', element: (s) => h('button', { type: 'button', 'aria-label': 'Change ' + s.name, onclick: () => edit(s.name) }, 'Change') },
    ],
  })
  const changes = table({
    caption: 'Changes, the last first', key: (c) => c.change + ' ' + c.setting, keepsOrder: true, empty: 'No setting was changed.',
    columns: [
      { title: 'Change', number: true, text: (c) => String(c.change), value: (c) => c.change }, { title: 'Time', text: (c) => c.time },
      { title: 'By', text: (c) => c.by }, { title: 'Setting', text: (c) => c.setting, class: 'mono' },
      { title: 'From', text: (c) => c.from, class: 'mono' }, { title: 'To', text: (c) => c.to, class: 'mono' },
      { title: 'Reason', text: (c) => (c.undoes ? `undoes ${c.undoes} ` : '') + (c.why || '') },
    ],
  })
  let known = []

  // edit puts a setting with its value of now into the field.
  function edit(name) {
    const setting = known.find((s) => s.name === name)
    field.value = [...field.value.split('\n').filter((l) => l.trim() && !l.startsWith(name + '=')), `${name}=${setting.value}`].join('\n')
    field.focus()
    field.scrollIntoView({ block: 'center' })
  }

  async function load() {
    const answer = await get('/settings')
    known = answer.settings || []
    list.update(known)
    changes.update((answer.changes || []).slice().reverse())
    back.hidden = (answer.changes || []).length === 0
  }

  // change says what would happen, and does it if that is confirmed.
  async function change(action, body, verb) {
    const said = await act(action + '?dry-run=true', body)
    if (!await confirm(said, verb)) return
    tell(await act(action + '?yes=true&why=' + encodeURIComponent(why.value.trim()), body))
    field.value = why.value = ''
    would.replaceChildren()
    await load()
  }

  // attempt does something with the buttons disabled, and tells its fault.
  async function attempt(what) {
    const buttons = [go, look, back]
    buttons.forEach((b) => { b.disabled = true })
    try {
      await what()
    } catch (e) {
      tell(e.message, true)
    }
    buttons.forEach((b) => { b.disabled = false })
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (field.value.trim()) attempt(() => change('set', field.value, 'Change'))
    else field.focus()
  })
  attempt(load)
  return {
    element: h('div', {}, h('h1', {}, 'Settings'), form, h('section', {}, list.element),
      h('section', {}, changes.element, h('div', { class: 'row' }, back))),
    update() {},
  }
}
