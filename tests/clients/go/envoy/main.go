// Envoy's rate limit service, the program itself, with its state in the server; asked over HTTP.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

const limits = `domain: weir
descriptors:
  - {key: daily, rate_limit: {unit: day, requests_per_unit: 5}}
  - {key: crowd, rate_limit: {unit: day, requests_per_unit: 100}}
  - {key: quick, rate_limit: {unit: second, requests_per_unit: 2}}
  - key: tenant
    value: small
    descriptors: [{key: user, rate_limit: {unit: day, requests_per_unit: 1}}]
`

var (
	folder  = Got(os.MkdirTemp("", "weir-clients-envoy-"))
	address = probe.FreeAddress()
	service *probe.Child
)

// answer is the service's, as JSON names it.
type answer struct {
	OverallCode string
	Statuses    []struct {
		Code               string
		CurrentLimit       struct{ RequestsPerUnit int }
		LimitRemaining     int
		DurationUntilReset string
	}
}

// asked sends descriptors, each a list of "key=value"; hits is what the request costs.
func asked(hits int, descriptors ...[]string) (answer, error) {
	var all []string
	for _, entries := range descriptors {
		var pairs []string
		for _, entry := range entries {
			key, value, _ := strings.Cut(entry, "=")
			pairs = append(pairs, fmt.Sprintf(`{"key":%q,"value":%q}`, key, value))
		}
		all = append(all, `{"entries":[`+strings.Join(pairs, ",")+`]}`)
	}
	body := fmt.Sprintf(`{"domain":"weir","hitsAddend":%d,"descriptors":[%s]}`, hits, strings.Join(all, ","))
	status, text, err := probe.HTTP("http://"+address+"/json", body)
	var got answer
	if err != nil {
		return got, err
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return got, fmt.Errorf("%d %.200s", status, text)
	}
	if wanted := map[string]int{"OK": 200, "OVER_LIMIT": 429}[got.OverallCode]; status != wanted {
		return got, fmt.Errorf("%d with %s", status, got.OverallCode)
	}
	return got, nil
}

// take wants one descriptor's figures.
func take(entry string, hits int, code string, remaining int) answer {
	got := Got(asked(hits, []string{entry}))
	Equal([]any{got.OverallCode, got.Statuses[0].Code, got.Statuses[0].LimitRemaining}, []any{code, code, remaining})
	return got
}

func split(address string) (host, port string) {
	host, port, _ = strings.Cut(address, ":")
	return host, port
}

func start() {
	config := filepath.Join(folder, "ratelimit", "config")
	Must(os.MkdirAll(config, 0o700))
	Must(os.WriteFile(filepath.Join(config, "weir.yaml"), []byte(limits), 0o600))
	host, port := split(address)
	_, grpc := split(probe.FreeAddress())
	_, debug := split(probe.FreeAddress())
	service = probe.Start("CLIENTS_RATELIMIT", folder, []string{"HOST=" + host, "PORT=" + port, "GRPC_HOST=" + host, "GRPC_PORT=" + grpc,
		"DEBUG_HOST=" + host, "DEBUG_PORT=" + debug, "REDIS_SOCKET_TYPE=tcp", "REDIS_TYPE=SINGLE", "REDIS_URL=" + Address,
		"RUNTIME_ROOT=" + folder, "RUNTIME_SUBDIRECTORY=ratelimit", "RUNTIME_WATCH_ROOT=false", "USE_STATSD=false",
		"DISABLE_STATS=true", "EXPIRATION_JITTER_MAX_SECONDS=0", "LOG_LEVEL=warning"})
	probe.Until(20*time.Second, func() error {
		_, err := asked(1, []string{"unlimited=x"})
		return err
	})
}

func figures() {
	for left := 4; left >= 0; left-- {
		got := take("daily=ann", 1, "OK", left)
		Equal(got.Statuses[0].CurrentLimit.RequestsPerUnit, 5)
		reset := Got(time.ParseDuration(got.Statuses[0].DurationUntilReset))
		Between(86400-float64(time.Now().Unix()%86400)-2, reset.Seconds(), 86400-float64(time.Now().Unix()%86400)+2, "reset in")
	}
	take("daily=ann", 1, "OVER_LIMIT", 0)
	take("daily=bob", 3, "OK", 2)
	take("daily=bob", 3, "OVER_LIMIT", 0)
}

// several: one request's descriptors are one pipeline; the strictest decides.
func several() {
	both := [][]string{{"tenant=small", "user=ann"}, {"daily=cid"}}
	first := Got(asked(1, both...))
	Equal([]any{first.OverallCode, first.Statuses[0].LimitRemaining, first.Statuses[1].LimitRemaining}, []any{"OK", 0, 4})
	second := Got(asked(1, both...))
	Equal([]string{second.OverallCode, second.Statuses[0].Code, second.Statuses[1].Code}, []string{"OVER_LIMIT", "OVER_LIMIT", "OK"})
	Equal(Got(asked(1, []string{"tenant=large", "user=ann"})).OverallCode, "OK")
}

func stored() {
	day := strconv.FormatInt(time.Now().Unix()/86400*86400, 10)
	Equal(probe.Keys("*"), []string{"weir_daily_ann_" + day, "weir_daily_bob_" + day, "weir_daily_cid_" + day,
		"weir_tenant_small_user_ann_" + day})
	Equal([]float64{probe.Number("weir_daily_ann_" + day), probe.Number("weir_daily_bob_" + day)}, []float64{6, 6})
	probe.Is("weir_daily_ann_"+day, "string", 86390, 86400)
}

func window() {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1050 * time.Millisecond)))
	take("quick=x", 1, "OK", 1)
	take("quick=x", 1, "OK", 0)
	take("quick=x", 1, "OVER_LIMIT", 0)
	time.Sleep(1000 * time.Millisecond)
	take("quick=x", 2, "OK", 0)
	time.Sleep(1200 * time.Millisecond)
	Equal(probe.Keys("*quick*"), []string{})
}

func concurrent() {
	Equal(probe.Admitted(8, func() (bool, error) {
		got, err := asked(1, []string{"crowd=x"})
		return got.OverallCode == "OK", err
	}), 100)
}

func restart() {
	take("daily=kept", 2, "OK", 3)
	probe.Restart(func() error {
		_, err := asked(1, []string{"daily=other"})
		return err
	})
}

func kept() {
	NeedDurable()
	take("daily=kept", 1, "OK", 2)
	take("daily=kept", 3, "OVER_LIMIT", 0)
}

// plain: no scripts.
func plain() {
	for _, command := range []string{"eval", "evalsha"} {
		calls, _ := probe.Calls(command)
		Equal(calls, 0)
	}
}

func main() {
	defer os.RemoveAll(folder)
	Say("version %s", probe.VersionOf("CLIENTS_RATELIMIT"))
	Check("start", start)
	Check("figures", figures)
	Check("several", several)
	Check("stored", stored)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("plain-commands", plain)
	Check("restart", restart)
	Check("kept", kept)
	service.Stop()
	Say("done")
}
