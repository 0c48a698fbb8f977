package main

// open are the cases that are not proven, or not whole, and why. The score shows each.
var open = map[string]string{
	"T01": "a bounded number of its pages is fetched beside the honest ones, up to 500 + 10 times `--trap-floor`",
	"T02": "a bounded number of its pages is fetched, up to 500 + 10 times `--trap-floor`; none with --strip-params " +
		"session",
	"T08": "nothing holds it by default (17 %): --max-hosts-per-ip does (3 % with 50)",
}
