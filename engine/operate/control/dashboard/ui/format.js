// Forms of numbers. Nothing is computed here but the unit.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenth = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

export function count(n) {
  return n === null || n === undefined ? '–' : whole.format(n)
}

// counted writes a number with what there is, in the form for one thing or for several.
export function counted(n, one, several) {
  return `${count(n)} ${Number(n) === 1 ? one : several}`
}

export function rate(n) {
  if (n === null || n === undefined) return '–'
  return n < 10 ? tenth.format(n) : whole.format(n)
}

// bytes writes a number of bytes in the units of the flags: powers of 1,024.
export function bytes(n) {
  if (n === null || n === undefined) return '–'
  for (const unit of ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']) {
    if (n < 1000 || unit === 'PiB') return (n < 9.95 && unit !== 'B' ? tenth.format(n) : whole.format(n)) + ' ' + unit
    n /= 1024
  }
}

// bytesOf writes how many bytes have come, and of how many; of is 0 if that is not known.
export function bytesOf(n, of) {
  return of ? `${bytes(n)} of ${bytes(of)}` : bytes(n)
}

// parts splits a sentence into what it is about, with a capital, and the rest.
export function parts(sentence) {
  const at = sentence.indexOf(': ')
  const what = at > 0 && at < 70 ? sentence.slice(0, at) : sentence
  return [what.charAt(0).toUpperCase() + what.slice(1), what === sentence ? '' : sentence.slice(at + 2)]
}

// isAlike says whether two sentences differ in their numbers alone.
export function isAlike(a, b) {
  const bare = (text) => text.replace(/\d[\d,]*/g, '0')
  return bare(a) === bare(b)
}

export function byteRate(n) {
  return n === null || n === undefined ? '–' : bytes(n) + '/s'
}

export function seconds(s) {
  if (s === null || s === undefined) return '–'
  if (s > 0 && s < 0.00095) return whole.format(s * 1e6) + ' µs'
  if (s < 0.0995) return whole.format(s * 1000) + ' ms'
  if (s < 59.95) return tenth.format(s) + ' s'
  s = Math.round(s)
  const two = (n) => String(Math.floor(n)).padStart(2, '0')
  if (s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)} min`
  if (s < 86400) return `${Math.floor(s / 3600)}:${two(s % 3600 / 60)} h`
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`
}

export function share(n) {
  return tenth.format(100 * n) + ' %'
}

// moment is the time of day, with the date if it was another day.
export function moment(unix) {
  const at = new Date(unix * 1000)
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return at.toDateString() === new Date().toDateString() ? time : at.toLocaleDateString('en-CA') + ' ' + time
}
