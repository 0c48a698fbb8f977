// Figures with their titles. The name of each is a tooltip: it is that of a field of an answer.
import { h, say } from './dom.js'

// figures makes figures. Each has a title, a name and a function of what update gets.
export function figures(list, name) {
  const cells = list.map(([title, id, text]) => {
    const value = h('dd', { 'data-name': id, title: id }, '–')
    return { value, text, element: h('div', {}, h('dt', {}, title), value) }
  })
  return {
    element: h('dl', { class: name }, cells.map((c) => c.element)),
    update(from) {
      for (const c of cells) {
        const text = c.text(from)
        say(c.value, text)
        c.value.classList.toggle('zero', /^(0( .*)?|–)$/.test(text))
      }
    },
  }
}

// figureList is figures under a heading. Each has a title, a name and a form; update gets a function from names to values.
export function figureList(title, list) {
  const made = figures(list.map(([name, id, form]) => [name, id, (valueOf) => form(valueOf(id))]), 'list')
  return { element: h('div', {}, h('h2', {}, title), made.element), update: made.update }
}
