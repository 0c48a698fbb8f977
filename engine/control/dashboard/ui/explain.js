// What the crawl knows of one URL.
import { h, say } from './dom.js'
import { get } from './api.js'

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
      answer.replaceChildren(tree(await get('/explain?url=' + encodeURIComponent(field.value.trim()))))
    } catch (e) {
      answer.replaceChildren(h('p', { class: 'fault' }, e.message))
    }
  }

  form.addEventListener('submit', (event) => { event.preventDefault(); ask() })
  return { element: h('div', {}, form, answer), ask }
}

// tree shows an answer as it came: names and values, nested.
function tree(value) {
  if (Array.isArray(value)) return h('ol', {}, value.map((v) => h('li', {}, tree(v))))
  if (value !== null && typeof value === 'object') {
    return h('dl', { class: 'tree' }, Object.entries(value).map(([k, v]) =>
      h('div', {}, h('dt', {}, k.replaceAll('_', ' ')), h('dd', {}, tree(v)))))
  }
  return h('span', {}, String(value))
}
