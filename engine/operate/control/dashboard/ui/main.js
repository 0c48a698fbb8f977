// The frame of the page: login, state of the crawl, navigation, and the one stream that all views share.
import { h, say, tell, confirm } from './dom.js'
import { act, follow, hasKey, login, logout, Refused } from './api.js'
import { overview } from './overview.js'
import { hasEnded, nameOf } from './state.js'
import { seeds } from './seeds.js'
import { reports } from './reports.js'
import { hosts, host } from './hosts.js'
import { active } from './active.js'
import { explain } from './explain.js'
import { rules } from './rules.js'
import { settings } from './settings.js'
import { agents } from './agents.js'

const views = [
  { path: '', title: 'Overview', make: overview },
  { path: 'seeds', title: 'Seeds', make: seeds },
  { path: 'reports', title: 'Reports', make: reports, needs: hasEnded },
  { path: 'hosts', title: 'Hosts', make: hosts, needs: isRunning },
  { path: 'host', title: 'Host', make: host, needs: isRunning, isHidden: true },
  { path: 'active', title: 'Under way', make: active, needs: isRunning },
  { path: 'explain', title: 'Explain', make: explain, needs: isRunning },
  { path: 'rules', title: 'Rules', make: rules, needs: isRunning },
  { path: 'settings', title: 'Settings', make: settings, needs: isRunning },
  { path: 'agents', title: 'Agents', make: agents, needs: (now) => !!now.report.cluster },
]

function isRunning(now) { return !hasEnded(now) }

const top = document.getElementById('top')
const main = document.getElementById('main')
let frame = null // of a session
let view = null
let now = null

start()

async function start() {
  const code = new URLSearchParams(location.hash.slice(1)).get('login')
  if (code) {
    history.replaceState(null, '', location.pathname)
    try {
      await login(code)
    } catch (e) {
      return showLogin(e instanceof Refused ? 'This link was used already. Take the newest one.' : e.message)
    }
  }
  if (hasKey()) enter()
  else showLogin('')
}

// showLogin replaces everything by the form for the token.
function showLogin(why) {
  if (view && view.close) view.close()
  frame = view = now = null
  top.replaceChildren()
  document.title = 'Orbweaver: log in'
  const field = h('input', { id: 'token', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false' })
  const fault = h('p', { class: 'fault', role: 'alert' }, why)
  const form = h('form', { class: 'login' },
    h('h1', {}, 'Orbweaver'),
    h('label', { for: 'token' }, 'Token of this crawl'),
    field, h('button', { class: 'strong' }, 'Log in'), fault,
    h('p', { class: 'quiet' }, 'It is the first line of ', h('code', {}, 'control.token'),
      ' in the crawl directory, or of the file of ', h('code', {}, '--token'), '.'))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    say(fault, '')
    try {
      await login(field.value)
      enter()
    } catch (e) {
      say(fault, e.message)
      field.select()
    }
  })
  main.replaceChildren(form)
  field.focus()
}

// enter shows the page and follows the crawl until the session ends.
async function enter() {
  frame = makeFrame()
  top.replaceChildren(frame.element)
  try {
    await follow(update, frame.link)
  } catch (e) {
    showLogin(hasKey() ? 'The login has ended, or the crawl has a new token.' : '')
  }
}

function makeFrame() {
  const state = h('span', { class: 'state', 'data-name': 'state' }, '…')
  const lost = h('span', { class: 'lost', role: 'status', hidden: true }, 'No connection to the crawl. Trying again.')
  const name = h('strong', { class: 'crawl-name', 'data-name': 'crawl' })
  const pause = button('Pause', () => act('pause'))
  const resume = button('Resume', () => act('resume'))
  const stop = button('Stop', async () =>
    await confirm('Stop the crawl? It finishes the exchanges under way. The same command resumes it.', 'Stop') ? act('stop') : null, { class: 'danger' })
  const leave = h('button', { onclick: async () => { await logout().catch(() => {}); showLogin('') } }, 'Log out')
  const links = views.map((v) => h('a', { href: '#/' + v.path, hidden: true }, v.title))
  const element = h('div', { class: 'bar' },
    h('div', { class: 'line' }, h('span', { class: 'brand' }, 'Orbweaver'), name, state, lost, h('span', { class: 'grow' }), pause, resume, stop, leave),
    h('nav', { 'aria-label': 'Views' }, links))
  for (const b of [pause, resume, stop]) b.hidden = true // until the state is known
  let seen = ''
  let isEnded = false
  return {
    element,
    mark(path) {
      const marked = path === 'host' ? 'hosts' : path
      views.forEach((v, i) => links[i].toggleAttribute('aria-current', v.path === marked))
    },
    link(isUp) { lost.hidden = isUp || isEnded },
    update(event) {
      const s = event.report.state
      views.forEach((v, i) => { links[i].hidden = !!v.isHidden || !!v.needs && !v.needs(event) })
      const crawl = nameOf(event)
      isEnded = hasEnded(event)
      if (isEnded) lost.hidden = true
      say(name, crawl)
      name.title = event.name || ''
      if (s === seen) return
      seen = s
      say(state, s)
      state.dataset.state = s
      pause.hidden = s !== 'running'
      resume.hidden = s !== 'paused'
      stop.hidden = s !== 'running' && s !== 'paused'
      document.title = crawl ? `${crawl}: ${s} · Orbweaver` : `${s} · Orbweaver`
    },
  }
}

// button makes a button that does something and tells what the crawl answered.
export function button(title, what, attributes) {
  const b = h('button', {
    type: 'button', ...attributes,
    onclick: async () => {
      b.disabled = true
      try {
        const said = await what()
        if (said) tell(said)
      } catch (e) {
        tell(e.message, true)
      } finally {
        b.disabled = false
      }
    },
  }, title)
  return b
}

function update(event) {
  const isOther = !now || hasEnded(now) !== hasEnded(event)
  now = event
  frame.update(event)
  if (isOther) route()
  else view.update(event)
}

// route shows the view that the address names.
function route() {
  if (!frame || !now) return
  const [path, ...rest] = location.hash.replace(/^#\/?/, '').split('/')
  const found = views.find((v) => v.path === path && (!v.needs || v.needs(now))) || views[0]
  if (view && view.close) view.close()
  view = found.make(rest.map(decodeURIComponent), now)
  main.replaceChildren(view.element)
  frame.mark(found.path)
  view.update(now)
}

window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#login=')) return start() // the address of orbweaver ui, in a tab that is open
  route()
  main.focus()
  window.scrollTo(0, 0)
})
