"""Estimators with the interface of scikit-learn."""

from entrain.sklearn.estimator import KuramotoClassifier
from entrain.sklearn.regressor import KuramotoRegressor

__all__ = ["KuramotoClassifier", "KuramotoRegressor"]
