package wall

// rule says how the walls of a service look. All of its conditions hold.
type rule struct {
	service  string
	field    string // the header field that the answer has, in lower case
	value    string // what the value of field contains, in lower case; "" for any value
	statuses []int  // of the answer; nil for any
	marker   string // what the body contains; "" for any body
}

// rules are looked at in this order. docs/walls.md lists the services.
var rules = [...]rule{ //nolint:gochecknoglobals // a table
	{service: "cloudflare", field: "cf-mitigated", value: "challenge"},
	{service: "aws-waf", field: "x-amzn-waf-action", value: "challenge"},
	{service: "aws-waf", field: "x-amzn-waf-action", value: "captcha"},
	{service: "vercel", field: "x-vercel-mitigated", value: "challenge"},
	{service: "sucuri", field: "x-sucuri-block", statuses: refusals},
	{service: "sucuri", field: "x-sucuri-id", marker: "sucuri_cloudproxy_js"},
	{service: "datadome", field: "x-dd-b", statuses: refusals},
	{service: "datadome", field: "x-datadome", statuses: refusals, marker: "captcha-delivery.com"},
	{service: "imperva", field: "x-iinfo", marker: "&incident_id="},
	{service: "imperva", field: "x-iinfo", marker: "Incapsula incident ID"},
	{service: "anubis", field: "set-cookie", value: "anubis", marker: `id="anubis_challenge"`},
	{service: "akamai", field: "server", value: "akamaighost", statuses: []int{403}, marker: "Reference&#32;&#35;"},
	{service: "ddos-guard", field: "server", value: "ddos-guard", statuses: refusals, marker: "/.well-known/ddos-guard/"},
	{service: "cloudflare", field: "server", value: "cloudflare", statuses: refusals, marker: "_cf_chl_opt"},
}

// anyHead are the rules for answers with any head.
var anyHead = [...]rule{ //nolint:gochecknoglobals // a table
	{service: "human", statuses: refusals, marker: `id="px-captcha"`},
}

// refusals are the statuses of walls that say themselves that they are no page.
var refusals = []int{401, 403, 405, 429, 503} //nolint:gochecknoglobals // a table
