// Package lease keeps the delay of an IP address when the hosts behind it belong to several agents: whoever asks such an address for
// something holds a lease of it, and at any time at most one agent does.
//
// What it is not: it knows no agents but by name, sends nothing and starts nothing. Who keeps the book of an address, and how wishes and
// answers travel, is the engine's business.
//
// The picture:
//
//	an agent                                 the keeper of the address
//	Holder  --- Want, Hold, Free --->        Keeper
//	        <-- Answer: for 5 s, or          one book entry an address: who holds it, until when,
//	            ask again in 3 s             when nobody may ask it, and who waits, in order
//
// A lease is for a time and not for a request: as long as nobody else wants the address it is LongTerm, and a page costs no message then;
// as soon as somebody waits it is a slot of some eight delays. At its end it runs out without a word, unless an exchange is under
// way, which is prolonged by Hold, and aborted by its agent if no answer comes in time. Who is refused is told when its turn is, and its
// turn is kept for a while.
//
// What it keeps: the agent's end of a lease, counted from when it asked, is never after the keeper's, counted from when it answered. The
// next lease of another agent begins no earlier than the delay after that, or after what the holder says with Free. So two exchanges
// of an address never overlap, and are the delay apart, whatever is late or lost on the way and whatever the clocks of day say, as long
// as both go by the same keeper. What happens when the keeper changes is up to the caller: it passes a time before which nobody new gets
// the address.
//
// What it costs: a wish is some 20 bytes, and a book entry some 200 of memory while it is in use. Both tables forget what has run out.
package lease
