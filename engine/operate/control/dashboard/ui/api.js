// Requests to the crawl. A login gives a cookie that this code cannot read, and a key that it sends.

// Where the page is: "/", or the prefix that a reverse proxy gives it. A browser keeps one key for each.
const base = location.pathname.replace(/[^/]*$/, '')
const keyName = 'orbweaver-key' + (base === '/' ? '' : base)
let key = localStorage.getItem(keyName) || ''

export class Refused extends Error {}

export function hasKey() { return key !== '' }

async function request(path, options) {
  const answer = await fetch(base + path.slice(1), { ...options, headers: { 'Orbweaver-Key': key, ...(options || {}).headers }, cache: 'no-store' })
  if (answer.status === 401) throw new Refused((await answer.text()).trim())
  return answer
}

const answerMost = 30000 // milliseconds for an answer, of a connection that may be dead without a sign

// ask makes a request, gives what read makes of the answer, and gives both up when they take too long.
async function ask(path, options, read) {
  const end = new AbortController()
  const watch = setTimeout(() => end.abort(new Error(`the crawl has not answered for ${answerMost / 1000} seconds`)), answerMost)
  const signal = options.signal ? AbortSignal.any([options.signal, end.signal]) : end.signal
  try {
    return await read(await request(path, { ...options, signal }))
  } finally {
    clearTimeout(watch)
  }
}

// login begins a session with a token.
export async function login(token) {
  key = await ask('/login', { method: 'POST', body: token }, async (answer) => {
    if (!answer.ok) throw new Error((await answer.text()).trim())
    return (await answer.json()).key
  })
  localStorage.setItem(keyName, key)
}

export async function logout() {
  try {
    await ask('/logout', { method: 'POST' }, () => null)
  } finally {
    key = ''
    localStorage.removeItem(keyName)
  }
}

// get returns an answer in JSON. A fault is an Error with what the crawl said. An answer of so many seconds will do.
export async function get(path, signal, age) {
  return ask(path, { signal, headers: age ? { 'Cache-Control': 'max-age=' + age } : {} }, async (answer) => {
    if (!answer.ok) throw new Error(await fault(answer))
    return answer.json()
  })
}

// act does one thing, whose arguments are the lines of a text, and returns what the crawl says.
export async function act(action, body) {
  const [text, status] = await ask('/' + action, { method: 'POST', body: body || '' },
    async (answer) => [await answer.text(), answer.statusText])
  let reply
  try {
    reply = JSON.parse(text)
  } catch {
    throw new Error(text.trim() || status)
  }
  if (reply.error) throw new Error((reply.message ? reply.message + ': ' : '') + reply.error)
  return reply.message || reply
}

async function fault(answer) {
  const text = (await answer.text()).trim()
  try {
    return JSON.parse(text).error || text
  } catch {
    return text || answer.statusText
  }
}

// follow calls onEvent with the crawl each second. onLink hears whether there is a connection. It ends with Refused.
export async function follow(onEvent, onLink) {
  let wait = 500
  for (;;) {
    await shown()
    const end = new AbortController()
    const hide = () => { if (document.hidden) end.abort() }
    document.addEventListener('visibilitychange', hide)
    try {
      await read(end, (event) => { wait = 500; onLink(true); onEvent(event) })
    } catch (e) {
      if (e instanceof Refused) throw e
    } finally {
      document.removeEventListener('visibilitychange', hide)
      end.abort()
    }
    if (!document.hidden) {
      onLink(false)
      await new Promise((resolve) => setTimeout(resolve, wait))
      wait = Math.min(wait * 2, 5000)
    }
  }
}

// shown waits until the page can be seen.
function shown() {
  if (!document.hidden) return null
  return new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}

const silenceMost = 12000 // milliseconds without an event

async function read(end, onEvent) {
  let watch = setTimeout(() => end.abort(), silenceMost)
  try {
    const answer = await request('/events', { signal: end.signal })
    if (!answer.ok) throw new Error(await fault(answer))
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      clearTimeout(watch)
      watch = setTimeout(() => end.abort(), silenceMost)
      const events = (text + value).split('\n\n')
      text = events.pop()
      const last = events.pop()
      if (last === undefined) continue
      const data = last.split('\n').filter((l) => l.startsWith('data: ')).map((l) => l.slice(6)).join('\n')
      if (data) onEvent(JSON.parse(data))
    }
  } finally {
    clearTimeout(watch)
  }
}
