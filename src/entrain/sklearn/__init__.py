"""Estimators with the interface of scikit-learn."""

from entrain.sklearn.estimator import KuramotoClassifier

__all__ = ["KuramotoClassifier"]
