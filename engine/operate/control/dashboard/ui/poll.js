// Answers that are asked for again and again while a view is open.
import { get, Refused } from './api.js'

// poll asks for a path each so many milliseconds, and not while the page is hidden. Pages that ask the same get one
// answer, which the crawl makes less often if it takes long. It gives a function to ask at once and one to end.
export function poll(path, each, onAnswer, onFault) {
  let timer = 0, end = null, closed = false
  async function ask() {
    clearTimeout(timer)
    if (end) end.abort()
    const mine = end = new AbortController()
    if (!document.hidden) {
      try {
        const answer = await get(path(), mine.signal, Math.ceil(each / 2000))
        if (!closed && mine === end) onAnswer(answer)
      } catch (e) {
        if (!closed && mine === end && !(e instanceof Refused)) onFault(e.message)
      }
    }
    if (!closed && mine === end) timer = setTimeout(ask, each)
  }
  ask()
  return { ask, close() { closed = true; clearTimeout(timer); if (end) end.abort() } }
}
