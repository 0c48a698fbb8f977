package bandwidth

// Options are the limits at the start of a crawl, in bytes per second.
type Options struct {
	Total   int64 `name:"bandwidth" type:"rate" help:"Bytes per second that all requests together receive, such as 10MiB/s; 0 for no limit. Each agent has its own." default:"0" least:"1KiB" zero:"0" placeholder:"RATE" basic:""`
	PerHost int64 `name:"host-bandwidth" type:"rate" help:"Bytes per second from each host, for hosts without a rule of their own (host-bandwidth in --host-rules); 0 for no limit." default:"0" least:"1KiB" zero:"0" placeholder:"RATE"`
}

// RateMin is the lowest limit, in bytes per second.
const RateMin = 1 << 10
