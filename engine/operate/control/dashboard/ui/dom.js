// Elements of the page. Text is set as text, never as markup: names and titles come from servers.

// h makes an element. Attributes that begin with "on" are listeners; children are elements or text.
export function h(tag, attributes, ...children) {
  const e = document.createElement(tag)
  set(e, attributes)
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false))
  return e
}

// svg makes an element of a drawing.
export function svg(tag, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag)
  set(e, attributes)
  e.append(...children)
  return e
}

function set(e, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value)
    else if (value === true) e.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(name, value)
  }
}

// say replaces the text of an element if it differs.
export function say(e, text) {
  if (e.textContent !== text) e.textContent = text
}

// tell shows a message for some seconds.
export function tell(text, isFault) {
  const box = document.getElementById('messages')
  const message = h('p', { class: isFault ? 'message fault' : 'message' }, text)
  box.append(message)
  while (box.children.length > 4) box.firstChild.remove()
  setTimeout(() => message.remove(), isFault ? 15000 : 6000)
}

// confirm asks before something is done. It resolves to true or false.
export function confirm(question, yes) {
  return new Promise((resolve) => {
    const box = h('dialog', { 'aria-labelledby': 'question' },
      h('p', { id: 'question' }, question),
      h('form', { method: 'dialog', class: 'row' },
        h('button', { value: 'no', autofocus: true }, 'Cancel'),
        h('button', { value: 'yes', class: 'strong' }, yes)))
    box.addEventListener('close', () => { box.remove(); resolve(box.returnValue === 'yes') })
    document.body.append(box)
    box.showModal()
  })
}
