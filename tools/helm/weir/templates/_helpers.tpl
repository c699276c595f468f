{{- define "weir.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The release's name, and the chart's unless the release is called so. */}}
{{- define "weir.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "weir.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "weir.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "weir.selector" -}}
app.kubernetes.io/name: {{ include "weir.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "weir.hasTls" -}}
{{- if .Values.tls.existingSecret }}yes{{ end -}}
{{- end -}}

{{- define "weir.hasPlain" -}}
{{- if not (and .Values.tls.only .Values.tls.existingSecret) }}yes{{ end -}}
{{- end -}}

{{- define "weir.hasTopology" -}}
{{- if or (gt (int .Values.cluster.owners) 1) .Values.cluster.topology }}yes{{ end -}}
{{- end -}}

{{/* What follows a pod's name in the name by which clients reach it. */}}
{{- define "weir.domain" -}}
{{- printf "%s-headless.%s.svc.%s" (include "weir.fullname" .) .Release.Namespace .Values.cluster.domain -}}
{{- end -}}

{{/* The file of cluster-topology. */}}
{{- define "weir.topology" -}}
{{- if .Values.cluster.topology -}}
{{ .Values.cluster.topology | trim }}
{{- else -}}
{{- $owners := int .Values.cluster.owners -}}
{{- $name := include "weir.fullname" . -}}
{{- $port := ternary 6379 6380 (eq (include "weir.hasPlain" .) "yes") -}}
{{- $tls := and (include "weir.hasTls" .) (include "weir.hasPlain" .) -}}
epoch {{ int .Values.cluster.epoch }}{{ if .Values.cluster.epochJump }} jump{{ end }}
{{- range $at := until $owners }}
{{ $name }}-{{ $at }} {{ $name }}-{{ $at }}.{{ include "weir.domain" $ }}:{{ $port }} {{ div (mul 16384 $at) $owners }}-{{ sub (div (mul 16384 (add1 $at)) $owners) 1 }}{{ if $tls }} tls-port=6380{{ end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "weir.conf" -}}
# Written by the chart. The lines of `config` come last and win.
bind * -::*
port {{ ternary 6379 0 (eq (include "weir.hasPlain" .) "yes") }}
dir /data/{{ .Values.persistence.directory }}
metrics-port 9121
metrics-bind * -::*
{{- if .Values.auth.enabled }}
aclfile /etc/weir/users/users.acl
{{- else }}
protected-mode no
{{- end }}
{{- if .Values.policies }}
policies-file /etc/weir/conf/policies
{{- end }}
{{- if include "weir.hasTls" . }}
tls-port 6380
tls-cert-file /etc/weir/tls/tls.crt
tls-key-file /etc/weir/tls/tls.key
tls-auth-clients {{ .Values.tls.authClients }}
{{- if ne .Values.tls.authClients "no" }}
tls-ca-cert-file /etc/weir/tls/ca.crt
{{- end }}
{{- end }}
{{- if .Values.http.enabled }}
http-port 7080
http-bind * -::*
{{- end }}
{{- if include "weir.hasTopology" . }}
cluster-enabled yes
cluster-topology /etc/weir/conf/topology
{{- end }}
{{- with .Values.config }}
{{ . | trim }}
{{- end }}
{{- end -}}

{{/* Where nothing says who may come in, nothing is installed. */}}
{{- define "weir.check" -}}
{{- if and .Values.auth.enabled (not (or .Values.auth.password .Values.auth.users .Values.auth.existingSecret)) -}}
{{- fail "set auth.password, auth.users or auth.existingSecret, or auth.enabled=false where everybody who reaches weir may do everything" -}}
{{- end -}}
{{- if and .Values.tls.only (not .Values.tls.existingSecret) -}}
{{- fail "tls.only needs tls.existingSecret" -}}
{{- end -}}
{{- end -}}
