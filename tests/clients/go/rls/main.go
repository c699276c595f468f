// Envoy's rate limit service by a client that is generated from the published messages: a table of
// requests and answers, asked of weir, and of the reference service with its state in Redis.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	service "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	kinds "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

//go:embed site.yaml
var limits []byte

type descriptor struct {
	entries string // "name=value,name=value"; "": the one of site.yaml that this does not say
	hits    int64  // of its own; below 0: it has none
	limit   int    // of its own, a day's; below 0: it has none
}

func of(entries string) descriptor { return descriptor{entries, -1, -1} }
func (d descriptor) with(hits int64) descriptor {
	d.hits = hits
	return d
}
func (d descriptor) limited(requests int) descriptor {
	d.limit = requests
	return d
}

// A step is a request and what it is answered: the overall code, and for each descriptor its code
// and, where there is a limit, requests/unit and what is left. `weir` is what weir answers where
// that is something else, for the reason that docs/rls.md gives.
type step struct {
	descriptors []descriptor
	hits        uint32
	wanted      string
	weir        string
}

func asks(wanted string, descriptors ...descriptor) step {
	return step{descriptors: descriptors, wanted: wanted}
}

// costs is a request with hits for all its descriptors.
func (s step) costs(hits uint32) step {
	s.hits = hits
	return s
}

func (s step) onWeir(wanted string) step {
	s.weir = wanted
	return s
}

var table = []struct {
	name  string
	steps []step
}{
	{"one-descriptor", []step{
		asks("OK: OK 3/DAY 2", of("user=ann")),
		asks("OK: OK 3/DAY 0", of("user=ann")).costs(2),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0", of("user=ann")),
		asks("OK: OK 3/DAY 2", of("user=bob")),
	}},
	{"values-before-names", []step{
		asks("OK: OK 10/HOUR 9", of("user=vip")),
		asks("OK: OK 1/DAY 0", of("user=bot")),
		asks("OK: OK 1/DAY 0", of("user=bot7")),
		asks("OVER_LIMIT: OVER_LIMIT 1/DAY 0", of("user=bot7")),
	}},
	{"the-first-beginning-that-fits", []step{
		asks("OK: OK 1/DAY 0", of("user=both")),
		asks("OVER_LIMIT: OVER_LIMIT 1/DAY 0", of("user=both")),
	}},
	{"a-value-without-a-limit", []step{
		asks("OK: OK", of("user=guest")).costs(5).onWeir("OK: OK left 4294967295"),
	}},
	{"names-and-values-of-any-bytes", []step{
		asks("OK: OK 6/DAY 5", descriptor{"", -1, -1}),
		asks("OK: OK", of("a, b")),
	}},
	{"one-count-for-all-values", []step{
		asks("OK: OK 3/DAY 2", of("tenant=f,path=/files/a")),
		asks("OK: OK 3/DAY 1", of("tenant=f,path=/files/b")),
		asks("OK: OK 3/DAY 2", of("tenant=g,path=/files/b")),
		asks("OK: OK 3/DAY 0", of("tenant=f,path=/files/")),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0", of("tenant=f,path=/files/c")),
	}},
	{"none-at-all", []step{
		asks("OVER_LIMIT: OVER_LIMIT 0/DAY 0", of("shut=x")).onWeir("OVER_LIMIT: OVER_LIMIT"),
	}},
	{"a-month-of-thirty-days", []step{
		asks("OK: OK 4/MONTH 3", of("monthly=x")),
	}},
	{"nested", []step{
		asks("OK: OK 100/DAY 99", of("tenant=a")),
		asks("OK: OK 5/DAY 4", of("tenant=a,path=/x")),
		asks("OK: OK 5/DAY 4", of("tenant=b,path=/x")),
		asks("OK: OK 5/DAY 4", of("tenant=b,path=/y")),
		asks("OK: OK 1/MINUTE 0", of("tenant=b,path=/slow")),
		asks("OK: OK", of("path=/x,tenant=a")),
		asks("OK: OK", of("tenant=a,path=/x,more=1")),
		asks("OK: OK 2/DAY 1", of("tenant=acme,user=ann")),
		asks("OK: OK", of("tenant=acme,user=bob")),
		asks("OK: OK", of("tenant=acme,path=/x")),
		asks("OK: OK", of("tenant=acme")),
	}},
	{"unknown", []step{
		asks("OK: OK", of("nobody=x")),
		asks("OK: OK, OK 3/DAY 2", of("nobody=x"), of("user=known")),
	}},
	{"several", []step{
		asks("OK: OK 3/DAY 2, OK 100/DAY 99", of("user=s"), of("tenant=s")),
		asks("OK: OK 3/DAY 0, OK 100/DAY 97", of("user=s"), of("tenant=s")).costs(2),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0, OK 100/DAY 96", of("user=s"), of("tenant=s")).
			onWeir("OVER_LIMIT: OVER_LIMIT 3/DAY 0, OK 100/DAY 97"),
		asks("OK: OK 100/DAY 95", of("tenant=s")).onWeir("OK: OK 100/DAY 96"),
	}},
	{"hits-of-a-descriptor", []step{
		asks("OK: OK 3/DAY 1, OK 100/DAY 93", of("user=h").with(2), of("tenant=h").with(7)),
		asks("OK: OK 3/DAY 0, OK 100/DAY 92", of("user=h"), of("tenant=h")),
	}},
	{"hits-of-zero", []step{
		asks("OK: OK 3/DAY 3", of("user=z").with(0)),
		asks("OK: OK 3/DAY 0", of("user=z")).costs(3),
		asks("OK: OK 3/DAY 0", of("user=z").with(0)).onWeir("OVER_LIMIT: OVER_LIMIT 3/DAY 0"),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0", of("user=z")),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0", of("user=z").with(0)),
	}},
	{"denials-charge-nothing", []step{
		asks("OK: OK 3/DAY 1", of("user=d")).costs(2),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0", of("user=d")).costs(2).onWeir("OVER_LIMIT: OVER_LIMIT 3/DAY 1"),
		asks("OVER_LIMIT: OVER_LIMIT 3/DAY 0", of("user=d")).onWeir("OK: OK 3/DAY 0"),
	}},
	{"override", []step{
		asks("OK: OK 2/DAY 1", of("custom=x").limited(2)),
		asks("OK: OK 2/DAY 0", of("custom=x").limited(2)),
		asks("OVER_LIMIT: OVER_LIMIT 2/DAY 0", of("custom=x").limited(2)),
		asks("OK: OK 7/DAY 6", of("user=o").limited(7)),
		asks("OVER_LIMIT: OVER_LIMIT 0/DAY 0", of("user=p").limited(0)),
	}},
	{"shadow", []step{
		asks("OK: OK 1/DAY 0", of("shade=x")),
		asks("OK: OK 1/DAY 0", of("shade=x")),
	}},
	{"unlimited", []step{
		asks("OK: OK left 4294967295", of("free=x")),
	}},
}

var client service.RateLimitServiceClient

func request(domain string, s step) *service.RateLimitRequest {
	asked := &service.RateLimitRequest{Domain: domain, HitsAddend: s.hits}
	for _, d := range s.descriptors {
		made := &common.RateLimitDescriptor{}
		if d.entries == "" {
			made.Entries = []*common.RateLimitDescriptor_Entry{{Key: "a, b=c*d", Value: "e, f=g*h"}}
		}
		for entry := range strings.SplitSeq(d.entries, ",") {
			if entry == "" {
				continue
			}
			name, value, _ := strings.Cut(entry, "=")
			made.Entries = append(made.Entries, &common.RateLimitDescriptor_Entry{Key: name, Value: value})
		}
		if d.hits >= 0 {
			made.HitsAddend = wrapperspb.UInt64(uint64(d.hits))
		}
		if d.limit >= 0 {
			made.Limit = &common.RateLimitDescriptor_RateLimitOverride{
				RequestsPerUnit: uint32(d.limit), Unit: kinds.RateLimitUnit_DAY}
		}
		asked.Descriptors = append(asked.Descriptors, made)
	}
	return asked
}

func asked(domain string, s step) (*service.RateLimitResponse, error) {
	soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return client.ShouldRateLimit(soon, request(domain, s))
}

func shown(response *service.RateLimitResponse) string {
	var all []string
	for _, one := range response.Statuses {
		text := one.Code.String()
		if limit := one.CurrentLimit; limit != nil {
			text += fmt.Sprintf(" %d/%s %d", limit.RequestsPerUnit, limit.Unit, one.LimitRemaining)
		} else if one.LimitRemaining > 0 {
			text += fmt.Sprintf(" left %d", one.LimitRemaining)
		}
		all = append(all, text)
	}
	return response.OverallCode.String() + ": " + strings.Join(all, ", ")
}

func (s step) run() {
	wanted := s.wanted
	if IsWeir && s.weir != "" {
		wanted = s.weir
	}
	Equal(shown(Got(asked("site", s))), wanted)
}

func reset() {
	response := Got(asked("site", asks("", of("user=reset"))))
	until := response.Statuses[0].DurationUntilReset.AsDuration().Seconds()
	midnight := 86400 - float64(time.Now().Unix()%86400)
	Between(midnight-2, until, midnight+2, "reset in")
}

func refused() {
	for _, wrong := range []*service.RateLimitRequest{{}, {Domain: "site"}, request("", asks("", of("user=x")))} {
		if _, err := client.ShouldRateLimit(context.Background(), wrong); err == nil {
			Fail("%v is answered", wrong)
		} else if IsWeir {
			Equal(status.Code(err).String(), "InvalidArgument")
		}
	}
}

// What both tell of a request; weir adds to each descriptor what became of it.
func metadata() {
	first, second := of("told=a").with(2), of("told=b")
	told := Got(asked("site", asks("", first, second).costs(1))).DynamicMetadata.AsMap()
	var descriptors []string
	for _, one := range told["descriptors"].([]any) {
		fields := one.(map[string]any)
		descriptors = append(descriptors, fmt.Sprintf("%v %v", fields["entries"], fields["hitsAddend"]))
		if IsWeir {
			Equal(fmt.Sprintf("%v %v", fields["policy"], fields["code"]), "site.told OK")
		}
	}
	Equal(descriptors, []string{"[told=a] 2", "[told=b] <nil>"})
	Equal(fmt.Sprintf("%v %v %v", told["domain"], told["hitsAddend"], told["quotaModeEnabled"]), "site 1 false")
	if IsWeir {
		Equal(Got(asked("site", asks("", of("nobody=x")))).DynamicMetadata == nil, true)
	}
}

func refund() {
	if !IsWeir {
		Skip("the reference service gives nothing back")
	}
	Equal(shown(Got(asked("site", asks("", of("user=r")).costs(3)))), "OK: OK 3/DAY 0")
	back := request("site", asks("", of("user=r").with(2)))
	back.Descriptors[0].IsNegativeHits = true
	Equal(shown(Got(client.ShouldRateLimit(context.Background(), back))), "OK: OK 3/UNKNOWN 2")
	Equal(shown(Got(asked("site", asks("", of("user=r")).costs(2)))), "OK: OK 3/DAY 0")
}

// Many callers of one connection: as many are granted as there are permits.
func concurrent() {
	Equal(probe.Admitted(50, func() (bool, error) {
		got, err := asked("site", asks("", of("tenant=crowd")))
		return got.GetOverallCode() == service.RateLimitResponse_OK, err
	}), 100)
}

func health(connection grpc.ClientConnInterface) func() {
	return func() {
		if !IsWeir {
			Skip("the reference service has a name of its own")
		}
		checks := grpc_health_v1.NewHealthClient(connection)
		for _, name := range []string{"", "envoy.service.ratelimit.v3.RateLimitService"} {
			answer := Got(checks.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{Service: name}))
			Equal(answer.Status.String(), "SERVING")
		}
		_, err := checks.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{Service: "other"})
		Equal(status.Code(err).String(), "NotFound")
		stream := Got(checks.Watch(context.Background(), &grpc_health_v1.HealthCheckRequest{}))
		_, err = stream.Recv()
		Equal(status.Code(err).String(), "Unimplemented")
	}
}

func split(address string) (host, port string) {
	host, port, _ = strings.Cut(address, ":")
	return host, port
}

func startReference(folder, address string) *probe.Child {
	config := filepath.Join(folder, "ratelimit", "config")
	Must(os.MkdirAll(config, 0o700))
	Must(os.WriteFile(filepath.Join(config, "site.yaml"), limits, 0o600))
	host, port := split(address)
	_, web := split(probe.FreeAddress())
	_, debug := split(probe.FreeAddress())
	return probe.Start("CLIENTS_RATELIMIT", folder, []string{"HOST=" + host, "PORT=" + web, "GRPC_HOST=" + host,
		"GRPC_PORT=" + port, "DEBUG_HOST=" + host, "DEBUG_PORT=" + debug, "REDIS_SOCKET_TYPE=tcp", "REDIS_TYPE=SINGLE",
		"REDIS_URL=" + Address, "RUNTIME_ROOT=" + folder, "RUNTIME_SUBDIRECTORY=ratelimit", "RUNTIME_WATCH_ROOT=false",
		"USE_STATSD=false", "RESPONSE_DYNAMIC_METADATA=true", "DISABLE_STATS=true", "EXPIRATION_JITTER_MAX_SECONDS=0", "LOG_LEVEL=warning"})
}

func startWeir(folder, address string) *probe.Child {
	file := filepath.Join(folder, "site.yaml")
	Must(os.WriteFile(file, limits, 0o600))
	rules := string(Got(exec.Command(os.Getenv("CLIENTS_CONVERTER"), file).Output()))
	rules = strings.Replace(rules, "rls site told POLICY site.told", "rls site told POLICY site.told METADATA", 1)
	Must(os.WriteFile(filepath.Join(folder, "policies"), []byte(rules), 0o600))
	_, port := split(address)
	return probe.Start("CLIENTS_PROGRAM", folder, nil, "--port", "0", "--grpc-port", port, "--storage", "memory",
		"--dir", folder, "--policies-file", "policies")
}

func main() {
	folder := Got(os.MkdirTemp("", "weir-clients-rls-"))
	defer os.RemoveAll(folder)
	address := probe.FreeAddress()
	Say("version %s", grpc.Version)
	var child *probe.Child
	Check("start", func() {
		if IsWeir {
			child = startWeir(folder, address)
		} else {
			child = startReference(folder, address)
		}
		connection := Got(grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials())))
		client = service.NewRateLimitServiceClient(connection)
		probe.Until(20*time.Second, func() error {
			_, err := asked("site", asks("", of("nobody=x")))
			return err
		})
		Check("health", health(connection))
	})
	for _, row := range table {
		Check(row.name, func() {
			for _, one := range row.steps {
				one.run()
			}
		})
	}
	Check("reflection", reflection(address))
	Check("reset", reset)
	Check("metadata", metadata)
	Check("refused", refused)
	Check("refund", refund)
	Check("concurrent", concurrent)
	child.Stop()
	Say("done")
}
