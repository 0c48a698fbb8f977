// Package story reads and runs the stories of the scenarios: text files that say which web a crawl runs on, what
// happens when, and what is expected. One file has the stories of one subject, each story some ten lines:
//
//	# A server that is down for an hour when the copy must be renewed costs nothing.
//	story Hostile_B01_anHourWithoutAnAnswerIsBridgedByTheCopy
//	set host-delay=10m stall-wait=6h
//	host one.test pages=200
//	  /robots.txt when t > 21.5h and t < 23h -> 500
//	run
//	expect outcomes["ok"] == 201 and queued == 0
//
// "go test ./bench/scenario/crawl -run Stories/Hostile_B01_anHour" runs this one, and -seed N with another seed. A line
// of expect that does not hold is printed with its file, its number and the values of its terms.
//
// # Form
//
// A line without indentation is a verb with its words. Indented lines below it belong to it. "#" begins a comment.
// Verbs in front of the first story of a file belong to each of its stories. A part in quotes may have spaces. $name
// and ${expression} stand for values. Expressions are those of expr-lang; 1h30m is a number of seconds in them.
//
//	story NAME [full] [sample]      full: only with the tag scenario; sample: a third of the cases in the reduced size
//	  [seeds=all|half|N] [from=N]   each seed of -worlds; $seed is -seed plus from plus the number $i of the run
//	case TITLE: name=value ...      one run with these values
//	each NAME: value ...            one run with each value, of each case
//	web plain|faulty|today|skewed ... the simulated web, small; fields of simweb.Config; direct, many, copies
//	host NAME [pages=N] ...         count=N ($h is the number of the host), address=HOST, seed=PATH|no; rules below it
//	set NAME=VALUE ...              settings of later runs, by flag or by path in engine.Config; proxy, seeds, metadata
//	start, end [STATE]              the crawl begins; it must end in STATE, else finished
//	run [STATE], run hourly         both; hourly: again an hour after each stall, whose number is stalls
//	stop [ERROR], kill [power|lost] the operator stops the crawl; its process dies
//	wait TIME, wait until EXPR      virtual time
//	pause, resume                   what an operator does meanwhile
//	change NAME=VALUE [refused]     the same
//	cut WHAT [STATE], heal WHAT     dns, proxy, local, all or a host of the simulated web
//	heal                            rules of hosts see healed
//	fill BYTES, rebuild [lost]      room on the disk; the frontier is made again from the archive
//	repeat N, let NAME = EXPR       the lines below it N times; a value for later
//	lines, rows REPORT COLUMNS      the final lines of crawl.log, or the rows of a report, are those below it
//	expect EXPR                     what holds now; further conditions are in the lines below it
//
// A word $name stands for all words of its value, and "${name}" is one word.
//
// # Hosts
//
// A rule is PATTERN [when EXPRESSION] -> ANSWER. The first rule that fits answers; a pattern may end in "*". Rules see
// path, its first number k, the number h of the host, n earlier requests for the path, the time t, the time since the
// last request to the host, the number dial of the connection, and healed.
//
// Answers are STATUS [Header=value]... ["body"], links N, raw "bytes", reset, silent and stream BLOCKS BYTES PAUSE.
// In place of a connection there are refused, timeout and unreachable; of a name no-name and name-fault; away is
// name-fault and refused. after=TIME delays an answer. Without a rule the root links to all pages, which are plain,
// and there is no robots.txt.
//
// # Values
//
// state, reason, waiting, outcomes, queued, stored, blamed and report (report.Report) tell of the crawl now, or of
// its last run; now is the time. requests, pages(host), files(host), asked(url), served, repeated, dials,
// gaps(list), distinct(pattern), pace(from, to) and took(host, pages) are what the web saw. said(text) counts in the
// log. final(host), outcomesOf(lines), via(), skipped() and rows(report) read what the crawl wrote. ask(question)
// asks the running crawl; sound([repeats]), judge(), order(), fifth(), fsck(), findings() and examined(area) ask the
// judges. each(n, format), words(n, count), noise(text), format(text, n), hex(n), file(name) and rand(most) make
// texts and numbers.
package story
