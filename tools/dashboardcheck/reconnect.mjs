// The page loses the crawl and finds it again: each way in which a connection goes, and comes back.
//
// The page has a false clock, so that a minute of its time-outs takes no minute.
import { line } from './line.mjs'

const second = 1000

// noteTries notes in the page when it asks for the stream, and when that ends, by the clock of the page.
function noteTries() {
  const real = window.fetch
  window.tries = []
  window.fetch = async (path, options) => {
    if (!String(path).endsWith('/events')) return real(path, options)
    const one = { begin: Date.now() }
    window.tries.push(one)
    try {
      const answer = await real(path, options)
      if (answer.ok) one.isGood = true
      else one.end = Date.now()
      return answer
    } catch (e) {
      one.end = Date.now()
      throw e
    }
  }
}

// reconnect tells all stories. story, want, value and more are those of dashboard.mjs.
export async function reconnect({ address, story, want, value, more }) {
  const lost = (page) => page.getByText('No connection to the crawl')
  const isLost = (page) => lost(page).waitFor({ timeout: 5 * second })
  const isBack = (page) => lost(page).waitFor({ state: 'hidden', timeout: 5 * second })

  // told tells a story of a page on a line of its own.
  async function told(name, tell) {
    const l = await line(address)
    await story(name, (page) => tell(page, l), { home: l.address, hasFalseClock: true, script: noteTries })
    l.close()
  }

  // fresh waits until the page shows figures that the crawl has had from now on.
  async function fresh(page, what = '') {
    const pages = await more()
    const shown = new Intl.NumberFormat('en').format(pages)
    await page.waitForFunction((text) => document.querySelector('[data-name=pages_stored]').textContent === text, shown,
      { timeout: 5 * second }).catch(() => { throw new Error('the figures are not those of the crawl ' + what) })
  }

  // passes lets time of the page pass, in small steps in which the page hears of the network.
  async function passes(page, time, step = 500) {
    for (let gone = 0; gone < time; gone += step) {
      await page.clock.runFor(step)
      await page.evaluate(() => new Promise((resolve) => { const c = new MessageChannel(); c.port1.onmessage = resolve; c.port2.postMessage(0) }))
    }
  }

  // tries lets time pass and returns how long the page waited after each try that failed, in milliseconds. No time
  // passes while a try is under way.
  async function tries(page, most) {
    const before = await page.evaluate(() => window.tries.length)
    for (let gone = 0; gone < most; gone += 250) {
      await passes(page, 250, 250)
      await page.waitForFunction(() => window.tries.every((t) => t.isGood || t.end !== undefined), null, { timeout: 5 * second })
        .catch(() => { throw new Error('a try has no end') })
    }
    return page.evaluate((n) => window.tries.map((t, i) => i === 0 || window.tries[i - 1].isGood ? null : t.begin - window.tries[i - 1].end)
      .slice(n).filter((gap) => gap !== null), before)
  }

  const hide = (page, isHidden) => page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => hidden ? 'hidden' : 'visible' })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)

  async function until(is, text) {
    for (let i = 0; i < 100; i++) {
      if (await is()) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(text)
  }

  await told('a cut line is told, and the page comes back by itself', async (page, l) => {
    await fresh(page, 'before')
    want(await lost(page).isHidden(), 'no connection is said of a good one')
    for (const time of ['once', 'twice', 'three times']) {
      l.cut()
      await isLost(page)
      l.mend()
      await passes(page, 6 * second)
      await isBack(page)
      await fresh(page, 'after it was cut ' + time)
      want(l.streams() === 1, `${l.streams()} streams are open after it was cut ${time}`)
    }
  })

  await told('a long outage: tries become rarer, up to one in five seconds, and never end', async (page, l) => {
    l.cut()
    await isLost(page)
    const gaps = await tries(page, 120 * second)
    want(gaps.length >= 20 && gaps.length <= 40, `${gaps.length} tries in two minutes: ${gaps}`)
    want(Math.max(...gaps.slice(1)) <= 6 * second, 'a try was late: ' + gaps)
    want(Math.min(...gaps.slice(6)) >= 4 * second, 'tries do not become rarer: ' + gaps)
    want(await lost(page).isVisible(), 'the page does not say any more that it has no connection')
    l.mend()
    await passes(page, 6 * second)
    await isBack(page)
    await fresh(page, 'after two minutes')
    l.cut()
    await isLost(page)
    const next = await tries(page, 4 * second)
    want(next.length >= 2, 'after a good connection the first tries are late: ' + next)
  })

  await told('a connection that says nothing any more is given up', async (page, l) => {
    await fresh(page, 'before')
    l.hold()
    await passes(page, 14 * second)
    await isLost(page)
    const before = l.tries
    await passes(page, 30 * second)
    want(l.tries > before, 'a try that is not answered is the last')
    want(l.streams() <= 1, `${l.streams()} silent streams are kept`)
    l.mend()
    await passes(page, 20 * second)
    await isBack(page)
    await fresh(page, 'after the silence')
    await passes(page, 20 * second)
    await page.locator('[data-name=diagnoses] li').first().waitFor()
  })

  await told('what views ask for is given up too, and asked again', async (page, l) => {
    await page.getByRole('link', { name: 'Hosts' }).click()
    await page.getByText('10,001 sites match').waitFor()
    for (const way of ['hold', 'cut']) {
      l[way]()
      await passes(page, 40 * second)
      l.mend()
      const asked = ['/hosts', '/events'].map((path) => page.waitForResponse((r) => new URL(r.url()).pathname === path && r.ok(), { timeout: 8 * second }))
      await passes(page, 40 * second)
      await Promise.all(asked).catch(() => { throw new Error(`after ${way} the hosts are not asked for again`) })
      await page.getByText('10,001 sites match').waitFor()
      want(await page.locator('.fault:visible').count() === 0, 'a fault is still shown: ' + await page.locator('.fault:visible').allInnerTexts())
    }
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.locator('[data-name=diagnoses] li').first().waitFor()
    for (const way of ['hold', 'cut']) {
      l[way]()
      await passes(page, 40 * second)
      l.mend()
      const asked = ['/doctor', '/history', '/hosts'].map((path) => page.waitForResponse((r) => new URL(r.url()).pathname === path && r.ok(), { timeout: 8 * second })
        .catch(() => { throw new Error(`after ${way} ${path} is not asked for again`) }))
      await passes(page, 40 * second)
      await Promise.all(asked)
    }
  })

  await told('a living connection is kept, however long', async (page, l) => {
    for (let i = 0; i < 4; i++) {
      await fresh(page, 'of a living connection')
      await page.clock.runFor(8 * second)
    }
    want(l.tries === 1, `${l.tries} connections were made`)
    want(await lost(page).isHidden(), 'no connection is said of a good one')
  })

  await told('a stream that ends, and one with a broken event', async (page, l) => {
    for (const way of ['end', 'garble']) {
      await fresh(page, 'before ' + way)
      const before = l.tries
      l[way]()
      await until(async () => { await passes(page, 500); return l.tries > before }, `after ${way} there is no other try`)
      await fresh(page, 'after ' + way)
      await isBack(page)
      await until(() => l.streams() === 1, `after ${way} ${l.streams()} streams are open`)
    }
  })

  await told('a hidden page asks for nothing, and comes back when it is shown', async (page, l) => {
    await fresh(page, 'before')
    for (const way of ['mend', 'cut', 'hold']) {
      await hide(page, true)
      await until(() => l.streams() === 0, 'a hidden page keeps its stream')
      await passes(page, second)
      let asked = 0
      const count = () => asked++
      page.on('request', count)
      l[way]()
      await passes(page, 60 * second, second)
      page.off('request', count)
      want(asked === 0, `a hidden page asks ${asked} times`)
      want(await lost(page).isHidden(), 'a page that was hidden says that there is no connection')
      await hide(page, false)
      if (way !== 'mend') {
        await passes(page, 14 * second)
        await isLost(page)
        l.mend()
        await passes(page, 20 * second)
      }
      await isBack(page)
      await fresh(page, 'after it was hidden, with ' + way)
      want(l.streams() === 1, `${l.streams()} streams are open`)
    }
    l.cut()
    await isLost(page)
    await hide(page, true)
    await passes(page, 10 * second)
    l.mend()
    await hide(page, false)
    await passes(page, 6 * second)
    await isBack(page)
    await fresh(page, 'after it was hidden without a connection')
  })

  await told('too many pages: it is said, and tried again', async (page, l) => {
    await page.route('**/events', (route) => route.fulfill({ status: 503, body: 'too many pages are open' }))
    l.end()
    await isLost(page)
    const gaps = await tries(page, 30 * second)
    want(gaps.length >= 5 && gaps.length <= 12, `tries after ${gaps}`)
    await page.unroute('**/events')
    await passes(page, 6 * second)
    await isBack(page)
    await fresh(page, 'after too many pages')
  })

  await told('a crawl with a new token asks for it', async (page, l) => {
    await page.route('**/events', (route) => route.fulfill({ status: 401, body: 'a token is needed' }))
    l.cut()
    l.mend()
    await passes(page, 6 * second)
    await page.getByText('The login has ended, or the crawl has a new token.').waitFor()
    let asked = 0
    page.on('request', () => asked++)
    await passes(page, 30 * second, second)
    want(asked === 0, `a page without a login asks ${asked} times`)
  })

  await told('what is done without a connection is told as a fault, and can be done again', async (page, l) => {
    const pause = page.getByRole('button', { name: 'Pause' })
    for (const way of ['cut', 'hold']) {
      l[way]()
      await pause.click()
      await passes(page, 40 * second)
      await until(async () => await pause.isEnabled(), `after ${way} the button stays disabled`)
      l.mend()
      await passes(page, 20 * second)
      await isBack(page)
    }
    l.cut()
    await isLost(page)
    await pause.click()
    await page.locator('.message.fault').first().waitFor({ timeout: 5 * second })
    l.mend()
    await passes(page, 6 * second)
    await isBack(page)
    await pause.click()
    await page.locator('[data-name=state]:text-is("paused")').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('[data-name=state]:text-is("running")').waitFor()
  })
}
