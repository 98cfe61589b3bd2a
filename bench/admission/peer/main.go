// The peer that Muster is measured against: an admission webhook on controller-runtime, written the way its
// documentation writes one. The Pod is decoded into its Go type, changed, marshalled, and the framework works out
// the JSON patch by comparing both. The change is the one that Muster's kai backend makes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	labelPodGang   = "grove.io/podgang"
	labelPodClique = "grove.io/podclique"
	gate           = "grove.io/podgang-pending-creation"
	scheduler      = "kai-scheduler"
)

// gangPods prepares the Pods of a gang.
type gangPods struct {
	decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *gangPods) Handle(_ context.Context, req admission.Request) admission.Response {
	pod := &corev1.Pod{}
	if err := h.decoder.Decode(req, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	gang := pod.Labels[labelPodGang]
	if gang == "" {
		return admission.Allowed("")
	}
	prepare(pod, req.Namespace, gang, pod.Labels[labelPodClique])

	prepared, err := json.Marshal(pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(req.Object.Raw, prepared)
}

func prepare(pod *corev1.Pod, namespace, gang, group string) {
	gated := slices.ContainsFunc(pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return g.Name == gate
	})
	if !gated {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
	}
	pod.Spec.SchedulerName = scheduler
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations["kai.scheduler/podgang"] = gang
	pod.Annotations["kai.scheduler/podgroup"] = group
	pod.Annotations["kai.scheduler/skip-podgrouper"] = "true"
	pod.Annotations["pod-group-name"] = namespace + "." + gang
	pod.Labels["kai.scheduler/subgroup-name"] = group
}

func main() {
	certDir := flag.String("cert-dir", "", "directory with tls.crt and tls.key")
	port := flag.Int("port", 9443, "port to listen on, on 127.0.0.1")
	flag.Parse()

	log := logr.FromSlogHandler(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelInfo}))
	ctrllog.SetLogger(log)

	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		log.Error(err, "the Pod's type could not be registered")
		os.Exit(1)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certDir})
	server.Register("/mutate-v1-pod", &webhook.Admission{
		Handler: &gangPods{decoder: admission.NewDecoder(scheme)},
	})
	if err := server.Start(signals.SetupSignalHandler()); err != nil {
		log.Error(err, "the server ended")
		os.Exit(1)
	}
}
