// What people do with the dashboard, done in a browser: node dashboard.mjs ADDRESS TOKEN PREFIXED ENDED
//
// PREFIXED is the address of a reverse proxy with a path prefix, ENDED that of a crawl that has ended, with its login.
//
// It prints a line for each story. "restart" asks the program that started it to end the crawl, "start" to start it
// again, and "more" to store a page more; the last two are answered by a line, "more" with the number of pages. The exit
// status is 1 if a story failed. STORY=regexp tells only the stories whose names match.
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import { reconnect } from './reconnect.mjs'

const [address, token, prefixed, ended] = process.argv.slice(2)
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
let faults = 0

function want(is, text) {
  if (!is) throw new Error(text)
}

// story runs one story on a page that has logged in.
async function story(name, tell, options = {}) {
  if (!new RegExp(process.env.STORY || '').test(name)) return
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  const outside = []
  const home = options.home || address
  page.on('request', (r) => { if (!r.url().startsWith(home + '/') && !r.url().startsWith('data:')) outside.push(r.url()) })
  page.on('pageerror', (e) => outside.push('a fault of the page: ' + e.message))
  page.on('console', (m) => { if (/Content.Security.Policy/.test(m.text())) outside.push(m.text()) })
  try {
    if (options.hasFalseClock) await page.clock.install()
    if (options.script) await page.addInitScript(options.script)
    await page.goto(home + '/')
    if (!options.stranger) await logIn(page)
    await tell(page, context)
    want(outside.length === 0, outside.join('; '))
    console.log('ok ' + name)
  } catch (e) {
    faults++
    console.log('FAIL ' + name + ': ' + e.message.split('\n')[0])
  }
  await context.close()
}

async function logIn(page) {
  await page.getByLabel('Token of this crawl').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.locator('[data-name=waiting]').waitFor()
}

async function ask(path) {
  const answer = await fetch(address + path, { headers: { Authorization: 'Bearer ' + token } })
  return answer.json()
}

const evil = '<img src=x onerror=alert(1)>'
const value = (page, name) => page.locator(`[data-name="${name}"]`).first().innerText()

await story('a wrong token is refused, and the page says so', async (page) => {
  await page.getByLabel('Token of this crawl').fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByText('that is not the token').waitFor()
}, { stranger: true })

await story('the figures are those of /status', async (page) => {
  const status = await ask('/status')
  const whole = new Intl.NumberFormat('en')
  for (const name of ['pages_stored', 'urls_queued', 'hosts_known', 'urls_found', 'urls_admitted', 'attempts', 'retries',
    'checkpoints', 'ips_known', 'robots_denied', 'dns.lookups', 'dns.timeouts']) {
    const figure = name.split('.').reduce((of, part) => of[part], status)
    want(await value(page, name) === whole.format(figure), `${name}: ${await value(page, name)}, not ${figure}`)
  }
  for (const name of ['statuses', 'outcomes', 'media_types', 'depths']) {
    const rows = await page.locator(`[data-name="${name}"] tbody tr`).evaluateAll((all) => all.map((r) => [...r.children].map((c) => c.textContent)))
    const want1 = Object.entries(status[name]).map(([key, n]) => [key, whole.format(n)])
    want(JSON.stringify(rows.sort()) === JSON.stringify(want1.sort()), `${name}: ${JSON.stringify(rows)}`)
  }
  const depths = await page.locator('[data-name=depths] tbody tr td:first-child').allInnerTexts()
  want(depths.join() === '0,2,10,16+', 'depths are in the order ' + depths)
  const waiting = await page.locator('[data-name=waiting]').getAttribute('title')
  want(waiting === status.waiting, 'waiting: ' + waiting)
  want(await value(page, 'state') === status.state, 'state: ' + await value(page, 'state'))
})

await story('the page says why the crawl is not faster, and what to do', async (page) => {
  const first = page.locator('[data-name=diagnoses] li').first()
  await first.getByText('one host has 9 of 10 queued URLs: <img src=x onerror=alert(1)>').waitFor()
  want((await first.innerText()).includes('To do: see <img'), 'no remedy: ' + await first.innerText())
  await first.getByText('Without it: its queue takes 3h').waitFor()
  want(await page.locator('[data-name=diagnoses] li').count() === 2, 'there are not two limits')
  want(await page.locator('img').count() === 0, 'there is an image')
})

await story('the page says which crawl it is, and how near its limits are', async (page) => {
  await page.getByText('3,456 of 10,000, 34 %').waitFor()
  want(await value(page, 'dir') === '/crawls/' + evil, 'directory: ' + await value(page, 'dir'))
  want((await page.title()).startsWith(evil + ': running'), await page.title())
  want(await page.getByText('--max-time').count() === 0, 'there is a limit of time')
})

await story('the headline stands still while its text changes', async (page) => {
  const top = () => page.locator('.figures').evaluate((e) => e.getBoundingClientRect().top)
  const before = await top()
  for (const text of ['x', 'x '.repeat(400)]) {
    await page.locator('.detail').evaluate((e, t) => { e.textContent = t }, text)
    want(await top() === before, `the figures moved by ${await top() - before} pixels`)
  }
})

await story('seeds and the last failures', async (page) => {
  await page.locator('[data-name=failures]').getByRole('cell', { name: 'http://' + evil + ', on http://a.test/' }).waitFor()
  await page.getByRole('link', { name: 'Seeds' }).click()
  await page.getByText('1 failed').waitFor()
  await page.getByRole('cell', { name: 'http://' + evil }).waitFor()
  want(await page.locator('img').count() === 0, 'there is an image')
})

await story('no word of a table breaks at 1,280 pixels', async (page) => {
  for (const view of ['hosts', 'active', 'seeds', 'agents']) {
    await page.goto(`${address}/#/${view}`)
    await page.locator('tbody tr').first().waitFor()
    const broken = await page.evaluate(() => [...document.querySelectorAll('td:not(.name):not(.text):not(.mono)')]
      .filter((e) => e.getClientRects().length && e.firstChild && e.firstChild.nodeType === 3)
      .filter((e) => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects().length > 1 })
      .map((e) => e.textContent))
    want(broken.length === 0, `${view}: ${broken.slice(0, 3).join('; ')}`)
    const heads = await page.locator('h1:visible, caption:visible:not(.unseen), h3:visible').allInnerTexts()
    want(heads.length === 1, `${view} has the headings ${heads.join(', ')}`)
  }
})

await story('the exchanges under way have bytes and a rate', async (page) => {
  await page.getByRole('link', { name: 'Under way' }).click()
  await page.getByRole('row', { name: /video.mp4.*10 MiB of 40 MiB.*1.0 MiB\/s/ }).waitFor()
})

await story('the gaps between requests are shown as a distribution', async (page) => {
  const gaps = page.locator('[data-name=politeness_gap_seconds]')
  await gaps.locator('rect').first().waitFor()
  want((await gaps.locator('svg').getAttribute('aria-label')).endsWith('3.0 s to 4.0 s 5'), await gaps.locator('svg').getAttribute('aria-label'))
})

await story('the agents of the crawl', async (page) => {
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByText('2 of 3 agents are alive.').waitFor()
  const row = await page.getByRole('row', { name: '<img src=x onerror=alert(1)>' }).innerText()
  want(/alive\s+30.0 %\s+4,711\s+99/.test(row), row)
  await page.getByRole('cell', { name: 'a1 (this one)' }).waitFor()
  want(await value(page, 'links_sent') === '345,678', 'links sent: ' + await value(page, 'links_sent'))
  want(await value(page, 'messages_failed') === '21', 'failed: ' + await value(page, 'messages_failed'))
})

await story('behind a reverse proxy with a path prefix', async (page, context) => {
  const cookies = await context.cookies()
  want(cookies.length === 1 && cookies[0].path === new URL(prefixed).pathname, JSON.stringify(cookies))
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.locator('[data-name=state]:text-is("paused")').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.locator('[data-name=state]:text-is("running")').waitFor()
  await page.getByRole('link', { name: 'Hosts' }).click()
  await page.getByText('10,001 sites match').waitFor()
  await page.reload()
  await page.getByText('10,001 sites match').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Token of this crawl').waitFor()
  want((await context.cookies()).length === 0, 'the cookie is still there')
}, { home: prefixed })

await story('pause and resume act, and the page shows it', async (page) => {
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.locator('[data-name=state]:text-is("paused")').waitFor()
  want((await ask('/status')).state === 'paused', 'the crawl is not paused')
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.locator('[data-name=state]:text-is("running")').waitFor()
  want((await ask('/status')).state === 'running', 'the crawl is not running')
})

await story('stop asks first', async (page) => {
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  want((await ask('/status')).state === 'running', 'it has stopped')
})

await story('add, block and rule', async (page) => {
  await page.getByRole('link', { name: 'Rules' }).click()
  for (const [label, text, button, said] of [
    ['Add URLs', 'http://a.test/\nhttp://b.test/', 'Add', '2 URLs: 2 new'],
    ['Block hosts', '.blocked.test', 'Block', '1 of 1 host rule saved'],
    ['Give hosts a rule', 'slow.test host-delay=9s', 'Save rules', '1 of 1 host rule saved'],
  ]) {
    await page.getByLabel(label, { exact: true }).fill(text)
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.locator('.message', { hasText: said }).last().waitFor()
  }
  await page.getByLabel('Block hosts', { exact: true }).fill('.evil.test')
  await page.getByRole('button', { name: 'Dry run: Block hosts' }).click()
  await page.getByText('.evil.test: 1 site is known, with 3 URLs queued. 12 idle sites on disk are not compared.').waitFor()
  await page.getByText('The longest queues: http://<img src=x onerror=alert(1)>').waitFor()
  await page.getByLabel('Give hosts a rule', { exact: true }).fill('192.0.2.0/24 host-delay=9s')
  await page.getByRole('button', { name: 'Dry run: Give hosts a rule' }).click()
  await page.getByText('Refused: a rule for a range of addresses').waitFor()
  await page.getByRole('cell', { name: 'slow.test host-delay=9s' }).waitFor()
  await page.getByRole('cell', { name: '.blocked.test exclude' }).waitFor()
})

await story('settings are listed, changed after a look at what that drops, and taken back', async (page) => {
  const scope = async () => (await ask('/settings')).settings.find((s) => s.name === 'scope').value
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('Time between two requests. ' + evil).waitFor()
  await page.getByRole('button', { name: 'Change scope' }).click()
  const field = page.getByLabel('Change settings')
  want(await field.inputValue() === 'scope=domain', await field.inputValue())
  await field.fill('scope=host')
  await page.getByLabel('Reason').fill('only ' + evil)
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.locator('[data-name=would]', { hasText: '2 of 9 queued URLs are dropped, such as http://' + evil }).waitFor()
  await page.getByRole('button', { name: 'Change', exact: true }).first().click()
  await page.getByRole('dialog').getByText('scope would be host, was domain').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  want(await scope() === 'domain', 'the scope has changed without a confirmation')
  await page.getByRole('button', { name: 'Change', exact: true }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click()
  await page.locator('.message', { hasText: 'scope is now host, was domain' }).waitFor()
  await page.getByRole('cell', { name: 'only ' + evil }).waitFor()
  want(await scope() === 'host', 'the scope has not changed')
  await page.getByRole('button', { name: 'Undo the last change' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('cell', { name: 'undoes 1' }).waitFor()
  want(await scope() === 'domain', 'the change was not taken back')
  await field.fill('x=1')
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.locator('.message.fault', { hasText: 'there is no setting ' + evil }).waitFor()
  want(await page.locator('img').count() === 0, 'there is an image')
})

await story('what servers wrote is shown as text', async (page) => {
  page.on('dialog', () => { throw new Error('a script ran') })
  await page.getByRole('cell', { name: evil }).first().waitFor()
  await page.getByRole('link', { name: 'Hosts' }).click()
  await page.getByLabel('Below').fill('evil')
  const link = page.getByRole('link', { name: evil }).first()
  await link.waitFor()
  await link.click()
  await page.getByRole('heading', { name: evil }).waitFor()
  await page.getByRole('cell', { name: evil }).first().waitFor()
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByText('fetched: ' + evil).waitFor()
  await page.getByRole('cell', { name: evil }).nth(1).waitFor()
  want(await page.locator('img').count() === 0, 'there is an image')
})

await story('ten thousand hosts: the page stays quick', async (page) => {
  await page.getByRole('link', { name: 'Hosts' }).click()
  await page.getByText('10,001 sites match').waitFor()
  const slowest = await page.evaluate(async () => {
    let last = performance.now(), most = 0
    for (let i = 0; i < 60; i++) {
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      most = Math.max(most, now - last)
      last = now
      if (i === 20) document.querySelectorAll('.sort')[2].click()
    }
    return most
  })
  want(slowest < 250, `a frame took ${Math.round(slowest)} ms`)
})

await story('the page comes back when the crawl does', async (page) => {
  const before = await value(page, 'pages_stored')
  console.log('restart')
  await page.getByText('No connection to the crawl').waitFor()
  console.log('start')
  await answers.next()
  await page.getByText('No connection to the crawl').waitFor({ state: 'hidden', timeout: 15000 })
  await page.waitForFunction((old) => document.querySelector('[data-name=pages_stored]').textContent !== old, before)
})

await reconnect({
  address, story, want, value,
  more: async () => {
    console.log('more')
    return Number((await answers.next()).value)
  },
})

await story('all of it by keyboard', async (page) => {
  await page.reload()
  await page.getByText('Why not faster?').waitFor()
  const reached = []
  for (let i = 0; i < 16; i++) {
    await page.keyboard.press('Tab')
    reached.push(await page.evaluate(() => document.activeElement.textContent.slice(0, 30)))
  }
  for (const name of ['Skip to the content', 'Overview', 'Hosts', 'Rules', 'Settings', 'Pause', 'Stop', 'Log out', '1 hour']) {
    want(reached.includes(name), `${name} is not reached: ${reached.join(', ')}`)
  }
  await page.getByRole('button', { name: 'Pause' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('[data-name=state]:text-is("paused")').waitFor()
  await page.getByRole('button', { name: 'Resume' }).focus()
  await page.keyboard.press('Space')
  await page.locator('[data-name=state]:text-is("running")').waitFor()
})

for (const colorScheme of ['light', 'dark']) {
  await story(`text can be read in ${colorScheme} mode`, async (page) => {
    const poor = await page.evaluate(() => {
      const rgb = (c) => c.match(/[\d.]+/g).map(Number)
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
      const ground = (e) => {
        for (; e; e = e.parentElement) {
          const c = rgb(getComputedStyle(e).backgroundColor)
          if (c.length < 4 || c[3] === 1) return c
        }
        return [255, 255, 255]
      }
      const bad = []
      for (const e of document.querySelectorAll('h1, h2, p, dt, dd, td, th button, a, button, .state, .tick')) {
        if (!e.textContent.trim() || !e.getClientRects().length) continue
        const [x, y] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a)
        const contrast = (x + 0.05) / (y + 0.05)
        if (contrast < 4.5) bad.push(`${e.textContent.slice(0, 20)} ${contrast.toFixed(1)}`)
      }
      return bad
    })
    want(poor.length === 0, poor.slice(0, 5).join('; '))
  }, { colorScheme })
}

await story('four hundred pixels are wide enough', async (page) => {
  for (const view of ['', 'seeds', 'hosts', 'rules', 'settings', 'agents', 'active', 'explain']) {
    await page.goto(`${address}/#/${view}`)
    await page.waitForTimeout(300)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    want(wide <= 400, `${view || 'overview'} is ${wide} pixels wide`)
  }
}, { viewport: { width: 400, height: 800 } })

await story('a crawl that has ended shows how, its seeds and its reports', async (page, context) => {
  await page.goto(ended)
  await page.getByText('How it ended').waitFor()
  await page.getByText('Finished: complete').waitFor()
  await page.getByText('orbweaver view ').first().waitFor()
  await page.getByText('reports/index.html').waitFor()
  const links = (await page.locator('nav a:visible').allInnerTexts()).join()
  want(links === 'Overview,Seeds,Reports', 'views: ' + links)
  want(await page.getByRole('button', { name: /Pause|Resume|Stop/ }).count() === 0, 'there is a button to steer it')
  want(await page.getByText('No connection').isHidden(), 'it says that there is no connection')
  await page.getByRole('link', { name: 'Reports' }).click()
  await page.getByRole('cell', { name: 'http://no.test/' }).first().waitFor()
  await page.locator('[data-name="report.errors"]').getByRole('cell', { name: 'name-not-found' }).waitFor()
  await page.getByRole('link', { name: 'Seeds' }).click()
  await page.getByText('1 failed').waitFor()
}, { stranger: true, home: ended.split('/#')[0] })

await story('a log out ends the session', async (page) => {
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Token of this crawl').waitFor()
  await page.reload()
  await page.getByLabel('Token of this crawl').waitFor()
})

await browser.close()
process.exit(faults ? 1 : 0)
